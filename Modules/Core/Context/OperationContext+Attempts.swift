extension OperationContext {
  /// The number of this attempt within its run, counting from 1.
  ///
  /// It is 1 for operations without a modifier that makes several attempts, such as a retry.
  public var operationAttempt: Int { self.run.attempts?.number ?? 1 }

  /// Advances the context to the next attempt of the run.
  ///
  /// For modifiers that run an operation several times within one run, such as a retry: call it on the context of each
  /// attempt except the first. It updates ``operationAttempt`` and notifies the modules that measure the run.
  ///
  /// - Parameter error: The error of the previous attempt.
  public mutating func beginNextAttempt(after error: any Error) {
    let attempts = self.run.attempts
    let listeners = attempts?.listeners ?? []
    self.run.attempts = RunAttempts(number: (attempts?.number ?? 1) + 1, listeners: listeners)
    for listener in listeners { listener(self, error) }
  }

  /// Calls `listener` when an attempt other than the first begins with this context or a copy of it.
  ///
  /// - Parameter listener: Receives the context of the attempt and the error of the previous one.
  package mutating func onNextAttempt(_ listener: @escaping @Sendable (OperationContext, any Error) -> Void) {
    let attempts = self.run.attempts
    self.run.attempts = RunAttempts(number: self.operationAttempt, listeners: (attempts?.listeners ?? []) + [listener])
  }

  /// Resets the attempts for a new run, which is in its first attempt and has no listeners.
  package mutating func forgetAttempts() {
    // A write would copy storage that other contexts share.
    if self.run.attempts != nil { self.run.attempts = nil }
  }
}

/// The number of a run's current attempt, and the listeners to call when the next one begins.
@usableFromInline
final class RunAttempts: Sendable {
  let number: Int
  let listeners: [@Sendable (OperationContext, any Error) -> Void]

  init(number: Int, listeners: [@Sendable (OperationContext, any Error) -> Void]) {
    self.number = number
    self.listeners = listeners
  }
}
