extension OperationContext {
  /// Which attempt of its run this is, counting from 1. It stays 1 where nothing runs the operation again.
  public var operationAttempt: Int { self.run.attempts?.number ?? 1 }

  /// Goes on to the next attempt of the run.
  ///
  /// For modifiers that run an operation again within one run, as a retry does: call it on the context of each attempt but
  /// the first, so that ``operationAttempt`` is right, and those who measure the run hear of it.
  ///
  /// - Parameter error: What the attempt before has thrown.
  public mutating func beginNextAttempt(after error: any Error) {
    let attempts = self.run.attempts
    let listeners = attempts?.listeners ?? []
    self.run.attempts = RunAttempts(number: (attempts?.number ?? 1) + 1, listeners: listeners)
    for listener in listeners { listener(self, error) }
  }

  /// Calls `listener` for each attempt that begins with this context or a copy of it, except the first of a run.
  ///
  /// It gets the context of the attempt, and what the one before has thrown.
  package mutating func onNextAttempt(_ listener: @escaping @Sendable (OperationContext, any Error) -> Void) {
    let attempts = self.run.attempts
    self.run.attempts = RunAttempts(number: self.operationAttempt, listeners: (attempts?.listeners ?? []) + [listener])
  }

  /// Makes this the context of a run of its own, which is in its first attempt and has no listeners.
  package mutating func forgetAttempts() {
    // Writing would copy what other contexts share.
    if self.run.attempts != nil { self.run.attempts = nil }
  }
}

/// The attempt that a run is in, and who hears of the next.
@usableFromInline
final class RunAttempts: Sendable {
  let number: Int
  let listeners: [@Sendable (OperationContext, any Error) -> Void]

  init(number: Int, listeners: [@Sendable (OperationContext, any Error) -> Void]) {
    self.number = number
    self.listeners = listeners
  }
}
