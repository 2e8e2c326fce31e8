package import Dispatch

/// How long a thread waits for something that always happens: a guard against hanging, not a bar.
private var limit: DispatchTime { .now() + .seconds(Int(BoundedTests.limit.components.seconds)) }

extension DispatchSemaphore {
  /// Blocks this thread, which is none of the pool, until there is a signal; false where none comes.
  package func waitForSignal() -> Bool { self.wait(timeout: limit) == .success }
}

extension DispatchGroup {
  /// Blocks this thread, which is none of the pool, until all blocks have ended; false where one does not end.
  package func waitForEnd() -> Bool { self.wait(timeout: limit) == .success }
}
