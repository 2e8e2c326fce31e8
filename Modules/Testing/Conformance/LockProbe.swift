internal import OperationCore

/// Calls a closure when it is released.
final class ReleaseProbe: Sendable {
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit {
    self.onRelease()
  }

  /// Does nothing. Call it in a closure to make the closure capture the probe.
  func touch() {}
}

/// Detects user code that is called with a lock held: meanwhile, another thread uses the object that has the lock.
final class LockProbe: Sendable {
  private let found = Locked<String?>(nil)
  private let limit: Duration
  private let use: @Sendable () -> Void

  /// Creates a probe.
  ///
  /// - Parameters:
  ///   - limit: How long to wait for the other thread.
  ///   - use: Uses the object.
  init(within limit: Duration, use: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.use = use
  }

  /// A description of what was called with a lock held; nil if nothing was.
  var finding: String? { self.found.withLock { $0 } }

  /// Checks whether a lock is held. Called by the user code.
  ///
  /// - Parameter what: What is being called.
  /// - Returns: False if a lock is held now, or was in an earlier call.
  @discardableResult
  func probe(_ what: String) -> Bool {
    // One finding is enough, and takes the whole limit.
    guard self.finding == nil else { return false }
    if Threads.finishesElsewhere(within: self.limit, self.use) { return true }
    self.found.withLock { $0 = $0 ?? what }
    return false
  }
}
