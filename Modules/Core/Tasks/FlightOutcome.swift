/// What a flight has come to, kept until the flight goes.
///
/// A class for each of the two kinds, rather than one `Result`: letting go of a value of a type's own parameter is direct,
/// while letting go of a type made of parameters looks that type up.
@usableFromInline
class FlightOutcome: @unchecked Sendable {
  // Unchecked because a class that is subclassed cannot be checked; each subclass holds one immutable Sendable value.
  @usableFromInline let isSuccess: Bool

  @inlinable
  init(isSuccess: Bool) {
    self.isSuccess = isSuccess
  }
}

@usableFromInline
final class FlightSuccess<Success: Sendable>: FlightOutcome, @unchecked Sendable {
  // Unchecked as its base class is; all it adds is this immutable Sendable value.
  @usableFromInline let value: Success

  @inlinable
  init(_ value: Success) {
    self.value = value
    super.init(isSuccess: true)
  }
}

@usableFromInline
final class FlightFailure<Failure: Error>: FlightOutcome, @unchecked Sendable {
  // Unchecked as its base class is; all it adds is this immutable Sendable value.
  @usableFromInline let error: Failure

  @inlinable
  init(_ error: Failure) {
    self.error = error
    super.init(isSuccess: false)
  }
}

extension Flight {
  @inlinable
  static func box(_ outcome: Outcome) -> FlightOutcome {
    switch outcome {
    case .success(let value): FlightSuccess(value)
    case .failure(let error): FlightFailure(error)
    }
  }

  /// The outcome of a flight that is over.
  @inlinable
  var outcome: Outcome {
    guard let box = self.settledOutcome else { preconditionFailure("A flight that is over has an outcome.") }
    return if box.isSuccess {
      .success(unsafeDowncast(box, to: FlightSuccess<Success>.self).value)
    } else {
      .failure(unsafeDowncast(box, to: FlightFailure<Failure>.self).error)
    }
  }
}
