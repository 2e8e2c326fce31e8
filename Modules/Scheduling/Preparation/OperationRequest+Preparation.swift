public import OperationCore

extension OperationRequest where Failure == any Error {
  /// Runs the operation only if a condition is satisfied.
  ///
  /// Before each run, the work that the conditions generate runs in order; then the conditions are evaluated in order;
  /// then the operation takes its categories. A denial is thrown as it is, a skip as ``OperationSkipped``. The
  /// operation does not run then. A denial ends the evaluation, and wins over a skip.
  ///
  /// Conditions and categories that are written next to each other form one preparation. Others are layers like any
  /// modifier: `.condition(a).retry(limit: 2)` evaluates `a` in each attempt, `.retry(limit: 2).condition(a)` once.
  ///
  /// - Parameter condition: The condition.
  /// - Returns: The operation with the condition in its preparation.
  public func condition(
    _ condition: some OperationCondition
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.prepared { $0.append(condition) { $0 } }
  }

  /// Runs the operation only if a run specification is satisfied.
  ///
  /// Otherwise the run throws ``OperationConditionDenied``. The order is the same as for conditions.
  ///
  /// - Parameter specification: The run specification.
  /// - Returns: The operation with the condition in its preparation.
  public func condition(
    _ specification: some OperationRunSpecification & Sendable
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.condition(SpecificationCondition(specification))
  }
}

extension OperationRequest {
  /// Runs the operation only if a condition is satisfied, and throws a failure of the operation otherwise.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - failure: Maps the error of a denial, or ``OperationSkipped``, to a failure of the operation.
  /// - Returns: The operation with the condition in its preparation.
  public func condition(
    _ condition: some OperationCondition,
    else failure: @escaping @Sendable (any Error) -> Failure
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.prepared { $0.append(condition, failure) }
  }

  /// Runs the operation only if a run specification is satisfied, and throws a failure of the operation otherwise.
  ///
  /// - Parameters:
  ///   - specification: The run specification.
  ///   - failure: Maps ``OperationConditionDenied`` to a failure of the operation.
  /// - Returns: The operation with the condition in its preparation.
  public func condition(
    _ specification: some OperationRunSpecification & Sendable,
    else failure: @escaping @Sendable (any Error) -> Failure
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.condition(SpecificationCondition(specification), else: failure)
  }

  /// Runs the operation only while no other operation of the same categories runs.
  ///
  /// Categories apply to the whole process, across clients and schedulers. Runs are admitted in the order in which they
  /// came, and take all of their categories at once, so the order of the categories does not matter. A run inside of
  /// the operation, such as a query in its body, may use the categories of the operation and does not wait for them.
  ///
  /// A waiting run that is cancelled leaves at once with a `CancellationError`; if the failure of the operation cannot
  /// represent that error, it keeps its place. Runs that hold categories and would wait for each other in a cycle are
  /// reported as ``/OperationCore/OperationWarning/Code/taskCycle``, and the last of them throws
  /// ``/OperationCore/OperationCycleError``.
  ///
  /// - Parameter categories: The names of the categories. Values of different types name different categories.
  /// - Returns: The operation with the categories in its preparation.
  public func mutuallyExclusive(
    _ categories: any (Hashable & Sendable)...
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.prepared { $0.add(categories.map { OperationCategory($0) }) }
  }

  /// Runs the operation only while no other operation of the same categories runs.
  ///
  /// - Parameter categories: Types that name the categories, which need no values: `enum Alert {}`.
  /// - Returns: The operation with the categories in its preparation.
  public func mutuallyExclusive(
    _ categories: any Any.Type...
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.prepared { $0.add(categories.map { OperationCategory($0) }) }
  }
}
