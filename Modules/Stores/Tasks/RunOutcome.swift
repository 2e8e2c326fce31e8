/// The outcome of a run, in one object that is made once and then passed on.
///
/// It does not name the types of the value and the error, so that the code between the operation and its caller is
/// compiled once. A reader names the types that the run was made with.
@usableFromInline
package class RunOutcome: @unchecked Sendable {
  // Unchecked: the compiler cannot check a class with subclasses. Each of the two subclasses, ``RunSuccess`` and
  // ``RunFailure``, adds one immutable Sendable value.
  @usableFromInline package let isSuccess: Bool

  @usableFromInline
  init(isSuccess: Bool) {
    self.isSuccess = isSuccess
  }

  /// Whether the outcome is a `CancellationError`.
  package var isCancellation: Bool { false }

  /// The error of a failure; nil for a value.
  package var anyError: (any Error)? { nil }

  /// The value of a success; nil for an error.
  package var anyValue: (any Sendable)? { nil }
}

extension RunOutcome {
  /// Makes the outcome with a value or an error.
  @inlinable
  package static func of<Success: Sendable, Failure: Error>(_ result: Result<Success, Failure>) -> RunOutcome {
    switch result {
    case .success(let value): RunSuccess(value)
    case .failure(let error): RunFailure(error)
    }
  }

  /// Makes the outcome with an error.
  // Not inlined: code that is not specialised would make room for a copy of the error in each run.
  @usableFromInline
  static func failure<Failure: Error>(_ error: borrowing Failure) -> RunOutcome { RunFailure(copy error) }

  /// Returns the value, or throws the error.
  ///
  /// - Precondition: The outcome was made with these types.
  @inlinable
  package func get<Success: Sendable, Failure: Error>(
    _ success: Success.Type,
    _ failure: Failure.Type
  ) throws(Failure) -> Success {
    // By the precondition, `isSuccess` says to which of the two classes the outcome belongs.
    if self.isSuccess { return unsafeDowncast(self, to: RunSuccess<Success>.self).value }
    throw unsafeDowncast(self, to: RunFailure<Failure>.self).error
  }

  /// The value or the error.
  ///
  /// - Precondition: The outcome was made with these types.
  @inlinable
  package func result<Success: Sendable, Failure: Error>(
    _ success: Success.Type = Success.self,
    _ failure: Failure.Type = Failure.self
  ) -> Result<Success, Failure> {
    do throws(Failure) { return .success(try self.get(success, failure)) } catch { return .failure(error) }
  }
}

/// The outcome of a run that has returned a value.
@usableFromInline
package final class RunSuccess<Success: Sendable>: RunOutcome, @unchecked Sendable {
  // Unchecked like its base class. It adds only this immutable Sendable value.
  @usableFromInline package let value: Success

  @inlinable
  package init(_ value: Success) {
    self.value = value
    super.init(isSuccess: true)
  }

  override package var anyValue: (any Sendable)? { self.value }
}

/// The outcome of a run that has thrown an error.
@usableFromInline
package final class RunFailure<Failure: Error>: RunOutcome, @unchecked Sendable {
  // Unchecked like its base class. It adds only this immutable Sendable value.
  @usableFromInline package let error: Failure

  @inlinable
  package init(_ error: Failure) {
    self.error = error
    super.init(isSuccess: false)
  }

  override package var isCancellation: Bool { self.error is CancellationError }

  override package var anyError: (any Error)? { self.error }
}

extension RunOutcome {
  /// A `CancellationError` as the outcome of a run that fails with `failure`; nil if that type cannot represent it.
  static func cancellation<Failure: Error>(as failure: Failure.Type) -> RunOutcome? {
    (CancellationError() as? Failure).map { RunFailure($0) }
  }

  /// Reports a cycle, and returns its error as the outcome of a run whose failure type can represent it.
  package static func cycle<Failure: Error>(_ names: [String], as failure: Failure.Type) -> RunOutcome {
    let error = OperationCycleError(operationNames: names)
    error.report()
    guard let failure = error as? Failure else { preconditionFailure("The failure type cannot represent the error.") }
    return RunFailure(failure)
  }
}
