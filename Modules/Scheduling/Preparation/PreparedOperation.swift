internal import OperationCore

/// An operation with a preparation as its outermost modifier.
protocol PreparedOperation: OperationRequest {
  /// The conditions and categories of the preparation.
  var preparationSteps: PreparationSteps { get }
  /// How the denials of the conditions become failures.
  var preparationFailures: [PreparationFailure<Failure>] { get }
  /// How a wait for categories that was too long becomes a failure.
  var preparationTimeOut: PreparationFailure<Failure>? { get }
  /// The same operation, whose preparation does nothing.
  var unprepared: Self { get }
}

/// An ``OperationPreparation`` of any operation.
protocol PreparationModifier: OperationModifier {
  var steps: PreparationSteps { get }
  var failures: [PreparationFailure<Failure>] { get }
  var timeOutFailure: PreparationFailure<Failure>? { get }
  var emptied: Self { get }
}

extension OperationPreparation: PreparationModifier {
  var emptied: Self { Self() }
}

extension Modified: PreparedOperation where Modifier: PreparationModifier {
  var preparationSteps: PreparationSteps { self.modifier.steps }

  var preparationFailures: [PreparationFailure<Modifier.Failure>] { self.modifier.failures }

  var preparationTimeOut: PreparationFailure<Modifier.Failure>? { self.modifier.timeOutFailure }

  var unprepared: Self { Self(operation: self.operation, modifier: self.modifier.emptied) }
}

extension OperationRequest {
  /// Returns the operation with a preparation that `edit` extends.
  ///
  /// If the operation has a preparation as its outermost modifier, the new one takes its place: its contents are
  /// moved, so that all work that conditions generate runs before the first condition is evaluated, and all categories
  /// are taken at once.
  func prepared(
    _ edit: (inout OperationPreparation<Self>) -> Void
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    var preparation = OperationPreparation<Self>()
    var operation = self
    if let inner = self as? any PreparedOperation { operation = preparation.takeOver(inner) ?? self }
    edit(&preparation)
    return operation.modifier(preparation)
  }
}

extension OperationPreparation {
  /// Takes over the contents of the preparation of `inner`, which is of the type `Operation`, and returns `inner`
  /// without it.
  fileprivate mutating func takeOver<Inner: PreparedOperation>(_ inner: Inner) -> Operation? {
    guard
      let rest = inner.unprepared as? Operation,
      let failures = inner.preparationFailures as? [PreparationFailure<Operation.Failure>]
    else { return nil }
    self.failures = failures
    self.timeOutFailure = inner.preparationTimeOut as? PreparationFailure<Operation.Failure>
    self.steps = inner.preparationSteps
    return rest
  }
}
