/// The outcome of a run, kept until the run is released.
///
/// Each case has a class of its own instead of a `Result`: a value whose type is a generic parameter is released
/// directly, while releasing a type that is built from generic parameters looks that type up.
@usableFromInline
class RunOutcome: @unchecked Sendable {
  // Unchecked: the compiler cannot check a class with subclasses. Each subclass has one immutable Sendable value.
  @usableFromInline let isSuccess: Bool

  @inlinable
  init(isSuccess: Bool) {
    self.isSuccess = isSuccess
  }
}

@usableFromInline
final class RunSuccess<Success: Sendable>: RunOutcome, @unchecked Sendable {
  // Unchecked like its base class. It adds only this immutable Sendable value.
  @usableFromInline let value: Success

  @inlinable
  init(_ value: Success) {
    self.value = value
    super.init(isSuccess: true)
  }
}

@usableFromInline
final class RunFailure<Failure: Error>: RunOutcome, @unchecked Sendable {
  // Unchecked like its base class. It adds only this immutable Sendable value.
  @usableFromInline let error: Failure

  @inlinable
  init(_ error: Failure) {
    self.error = error
    super.init(isSuccess: false)
  }
}

extension SharedRun {
  @inlinable
  static func box(_ outcome: Outcome) -> RunOutcome {
    switch outcome {
    case .success(let value): RunSuccess(value)
    case .failure(let error): RunFailure(error)
    }
  }

  /// The outcome of the run, which must have finished.
  @inlinable
  var outcome: Outcome {
    guard let box = self.settledOutcome else { preconditionFailure("A shared run has no outcome before it finishes.") }
    return if box.isSuccess {
      .success(unsafeDowncast(box, to: RunSuccess<Success>.self).value)
    } else {
      .failure(unsafeDowncast(box, to: RunFailure<Failure>.self).error)
    }
  }
}
