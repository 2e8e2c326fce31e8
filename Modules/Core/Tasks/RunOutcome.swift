/// The outcome of a run, in one object that is made once and then passed on.
///
/// Not a `Result`: code that the compiler does not specialize, such as the modifiers of a client's defaults, looks up
/// the type of a `Result` in each function that holds one, for 330 instructions. A reference needs no look-up.
@usableFromInline
package struct RunOutcome<Success: Sendable, Failure: Error>: Sendable {
  @usableFromInline let box: RunOutcomeBox

  /// Takes over an outcome of the same types.
  @inlinable
  init(box: RunOutcomeBox) {
    self.box = box
  }

  @inlinable
  package init(success value: Success) {
    self.box = RunSuccess(value)
  }

  @inlinable
  package init(failure error: Failure) {
    self.box = RunFailure(error)
  }

  @inlinable
  package init(_ result: Result<Success, Failure>) {
    switch result {
    case .success(let value): self.init(success: value)
    case .failure(let error): self.init(failure: error)
    }
  }

  /// The value of a run that has succeeded; throws the error of one that has failed.
  @inlinable
  package func get() throws(Failure) -> Success {
    // The box was made with these types, and says which of its classes it is of.
    if self.box.isSuccess { return unsafeDowncast(self.box, to: RunSuccess<Success>.self).value }
    throw unsafeDowncast(self.box, to: RunFailure<Failure>.self).error
  }

  @inlinable
  package var result: Result<Success, Failure> {
    do throws(Failure) { return .success(try self.get()) } catch { return .failure(error) }
  }
}

/// The object of a ``RunOutcome``.
///
/// Each case has a class of its own instead of a `Result`: a value whose type is a generic parameter is released
/// directly, while releasing a type that is built from generic parameters looks that type up.
@usableFromInline
class RunOutcomeBox: @unchecked Sendable {
  // Unchecked: the compiler cannot check a class with subclasses. Each subclass has one immutable Sendable value.
  @usableFromInline let isSuccess: Bool

  @inlinable
  init(isSuccess: Bool) {
    self.isSuccess = isSuccess
  }
}

@usableFromInline
final class RunSuccess<Success: Sendable>: RunOutcomeBox, @unchecked Sendable {
  // Unchecked like its base class. It adds only this immutable Sendable value.
  @usableFromInline let value: Success

  @inlinable
  init(_ value: Success) {
    self.value = value
    super.init(isSuccess: true)
  }
}

@usableFromInline
final class RunFailure<Failure: Error>: RunOutcomeBox, @unchecked Sendable {
  // Unchecked like its base class. It adds only this immutable Sendable value.
  @usableFromInline let error: Failure

  @inlinable
  init(_ error: Failure) {
    self.error = error
    super.init(isSuccess: false)
  }
}

extension SharedRun {
  /// The outcome of the run, which must have finished.
  @inlinable
  var outcome: Outcome {
    guard let box = self.state.outcome else {
      preconditionFailure("A shared run has no outcome before it finishes.")
    }
    return Outcome(box: box)
  }
}
