/// What a run has come to, kept until the run goes.
///
/// A class for each of the two kinds, rather than one `Result`: letting go of a value of a type's own parameter is direct,
/// while letting go of a type made of parameters looks that type up.
@usableFromInline
class RunOutcome: @unchecked Sendable {
  // Unchecked because a class that is subclassed cannot be checked; each subclass holds one immutable Sendable value.
  @usableFromInline let isSuccess: Bool

  @inlinable
  init(isSuccess: Bool) {
    self.isSuccess = isSuccess
  }
}

@usableFromInline
final class RunSuccess<Success: Sendable>: RunOutcome, @unchecked Sendable {
  // Unchecked as its base class is; all it adds is this immutable Sendable value.
  @usableFromInline let value: Success

  @inlinable
  init(_ value: Success) {
    self.value = value
    super.init(isSuccess: true)
  }
}

@usableFromInline
final class RunFailure<Failure: Error>: RunOutcome, @unchecked Sendable {
  // Unchecked as its base class is; all it adds is this immutable Sendable value.
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

  /// The outcome of a run that is over.
  @inlinable
  var outcome: Outcome {
    guard let box = self.settledOutcome else { preconditionFailure("A sharedRun that is over has an outcome.") }
    return if box.isSuccess {
      .success(unsafeDowncast(box, to: RunSuccess<Success>.self).value)
    } else {
      .failure(unsafeDowncast(box, to: RunFailure<Failure>.self).error)
    }
  }
}
