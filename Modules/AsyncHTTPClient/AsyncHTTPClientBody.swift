#if SwiftOperationAsyncHTTPClient
  internal import AsyncHTTPClient
  internal import NIOCore
  internal import OperationFoundation
  internal import Synchronization

  /// The body of an answer. The client ends the request when the last reference to it is gone before its end.
  ///
  /// The client permits one iterator; all iterators of this sequence share it.
  final class AsyncHTTPClientBody: AsyncSequence, Sendable {
    typealias Element = Data
    typealias Failure = any Error

    /// What reads the body for the client.
    private struct Reader: @unchecked Sendable {
      // Unchecked because one task has it at a time: it is taken out of the lock, and put back after it has read.
      var iterator: HTTPClientResponse.Body.AsyncIterator
    }

    private enum State {
      case ready(Reader)
      /// A task has the reader.
      case reading
      case ended((any Error)?)
    }

    private let state: Mutex<State>

    init(_ body: HTTPClientResponse.Body) {
      self.state = Mutex(.ready(Reader(iterator: body.makeAsyncIterator())))
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
      let body: AsyncHTTPClientBody

      mutating func next() async throws -> Data? { try await self.body.next() }
    }

    private func next() async throws -> Data? {
      guard var reader = try self.takeReader() else { return nil }
      do {
        let bytes = try await reader.iterator.next()
        self.state.withLock { $0 = bytes == nil ? .ended(nil) : .ready(reader) }
        return bytes.map { Data($0.readableBytesView) }
      } catch {
        let error = AsyncHTTPClientTransportError.describing(error)
        self.state.withLock { $0 = .ended(error) }
        throw error
      }
    }

    /// Returns nil at the end of the body.
    private func takeReader() throws -> Reader? {
      let state = self.state.withLock { state in
        let former = state
        if case .ready = former { state = .reading }
        return former
      }
      switch state {
      case .ready(let reader): return reader
      case .reading: preconditionFailure("The body of a response is read twice at once.")
      case .ended(nil): return nil
      case .ended(let error?): throw error
      }
    }
  }
#endif
