public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
  internal import Dispatch
  internal import Synchronization
#endif

extension URLSession {
  /// Sends a request, and cancels it when the task is cancelled.
  ///
  /// `data(for:)` does the same. But on Linux, up to Swift 6.3, it cancels the request while the runtime holds a lock of
  /// the task. If the request ends at that moment, its queue waits for this lock and the cancellation for the queue, for
  /// ever: <https://github.com/swiftlang/swift-corelibs-foundation/issues/5412>. So there this cancels on another thread.
  public func response(to request: URLRequest) async throws -> (Data, URLResponse) {
    #if canImport(FoundationNetworking)
      let exchange = Exchange()
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let task = self.dataTask(with: request) { data, response, error in
            if let response, error == nil {
              continuation.resume(returning: (data ?? Data(), response))
            } else {
              continuation.resume(throwing: error ?? URLError(.badServerResponse))
            }
          }
          exchange.begin(task)
        }
      } onCancel: {
        DispatchQueue.global().async { exchange.cancel() }
      }
    #else
      try await self.data(for: request)
    #endif
  }
}

#if canImport(FoundationNetworking)
  /// A request that can be cancelled before it begins.
  private final class Exchange: Sendable {
    private let state = Mutex<(task: URLSessionTask?, isCancelled: Bool)>((nil, false))

    func begin(_ task: URLSessionTask) {
      let isCancelled = self.state.withLock { state in
        state.task = task
        return state.isCancelled
      }
      task.resume()
      if isCancelled { task.cancel() }
    }

    func cancel() {
      let task = self.state.withLock { state in
        state.isCancelled = true
        return state.task
      }
      task?.cancel()
    }
  }
#endif
