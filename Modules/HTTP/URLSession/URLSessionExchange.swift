internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A request to a server, and what has arrived of its answer.
final class URLSessionExchange: Sendable {
  private struct State: Sendable {
    /// Who waits for the header of the answer.
    var caller: CheckedContinuation<HTTPURLResponse, any Error>?
    /// Bytes that are not read yet.
    var chunks: [Data] = []
    /// Who waits for bytes.
    var reader: CheckedContinuation<Data?, any Error>?
    /// How the answer has ended: nil while it arrives.
    var end: Result<Void, any Error>?
  }

  let task: URLSessionDataTask
  private let state = Mutex(State())

  init(_ task: URLSessionDataTask) {
    self.task = task
  }

  /// Sends the request.
  func begin(_ caller: CheckedContinuation<HTTPURLResponse, any Error>) {
    let end = self.state.withLock { state in
      // Cancelled before it has begun.
      if state.end == nil { state.caller = caller }
      return state.end
    }
    switch end {
    case .failure(let error):
      caller.resume(throwing: error)
      // A session forgets a task that ends, and this one ends only if it has begun.
      self.task.resume()
    case .success: caller.resume(throwing: OperationHTTPContentError.noAnswer())
    case nil: self.task.resume()
    }
  }

  func receive(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return self.end(OperationHTTPContentError.noAnswer()) }
    let caller = self.state.withLock { state in
      defer { state.caller = nil }
      return state.caller
    }
    caller?.resume(returning: response)
  }

  func receive(_ data: Data) {
    let reader = self.state.withLock { state -> CheckedContinuation<Data?, any Error>? in
      guard state.end == nil else { return nil }
      guard let reader = state.reader else {
        state.chunks.append(data)
        return nil
      }
      state.reader = nil
      return reader
    }
    reader?.resume(returning: data)
  }

  /// Ends the exchange: with nil at the end of the answer.
  func end(_ error: (any Error)?) {
    let waiting = self.state.withLock { state in
      let waiting = (caller: state.caller, reader: state.reader)
      (state.caller, state.reader) = (nil, nil)
      if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
      return waiting
    }
    waiting.caller?.resume(throwing: error ?? OperationHTTPContentError.noAnswer())
    if let error { waiting.reader?.resume(throwing: error) } else { waiting.reader?.resume(returning: nil) }
  }

  /// Ends the request at once, for those who wait; what has arrived is dropped.
  func cancel(_ error: any Error) {
    let mayCancel = self.state.withLock { state in
      state.chunks = []
      return state.end == nil
    }
    self.end(error)
    guard mayCancel else { return }
    // On Linux, up to Swift 6.3, `cancel` waits for the queue of the session. The runtime calls this while it holds a lock
    // of the task, for which that queue may wait: https://github.com/swiftlang/swift-corelibs-foundation/issues/5412. So it
    // is called on another thread, where it may take its time.
    DispatchQueue.global().async { [task] in task.cancel() }
  }

  /// The next bytes of the body; nil at its end.
  func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { reader in
        let (data, end) = self.state.withLock { state -> (Data?, Result<Void, any Error>?) in
          if !state.chunks.isEmpty { return (state.chunks.removeFirst(), nil) }
          if let end = state.end { return (nil, end) }
          precondition(state.reader == nil, "The body of a response is read twice at once.")
          state.reader = reader
          return (nil, nil)
        }
        if let data { return reader.resume(returning: data) }
        if let end { reader.resume(with: end.map { nil }) }
      }
    } onCancel: {
      self.cancel(CancellationError())
    }
  }
}

/// The body of an answer of a session, which ends the request with its last reference.
final class URLSessionBody: AsyncSequence, Sendable {
  typealias Element = Data
  typealias Failure = any Error

  private let exchange: URLSessionExchange

  init(exchange: URLSessionExchange) {
    self.exchange = exchange
  }

  deinit {
    self.exchange.cancel(CancellationError())
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

  struct AsyncIterator: AsyncIteratorProtocol {
    let body: URLSessionBody

    mutating func next() async throws -> Data? { try await self.body.exchange.next() }
  }
}
