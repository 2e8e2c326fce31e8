import Foundation
import OperationTesting
import TestFixtures
package import Testing

/// Runs something on a thread of its own and waits for it; false if it hangs.
///
/// It blocks the thread that it is called on, so call it where ``offThePool(sourceLocation:_:)`` has led.
package func onAnotherThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  let isDone = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    body()
    isDone.signal()
  }
  return isDone.waitForSignal()
}

/// Runs something that may block on a thread of its own, so that it takes none from the tasks of other tests.
package func offThePool<R: Sendable>(
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable () -> R
) async throws -> R {
  try await withTimeLimit("a thread to end", sourceLocation: sourceLocation) {
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }
}
