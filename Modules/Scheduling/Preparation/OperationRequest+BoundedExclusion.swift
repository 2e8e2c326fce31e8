public import OperationCore

extension OperationRequest where Failure == any Error {
  /// Runs the operation only while no other operation of the same categories runs, or not at all.
  ///
  /// It follows the rules of the form without a longest wait. A run that does not get its categories in time leaves its place
  /// to the next one, and throws ``OperationExclusionTimedOut``.
  ///
  /// - Parameters:
  ///   - categories: The names of the categories. Values of different types name different categories.
  ///   - maximumWait: The longest time to wait, zero to wait for nothing. A negative duration is reported and counts as
  ///     zero. Of several next to each other the shortest counts.
  /// - Returns: The operation with the categories in its preparation.
  public func mutuallyExclusive(
    _ categories: any (Hashable & Sendable)...,
    maximumWait: OperationDuration
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.exclusive(categories.map { OperationCategory($0) }, maximumWait) { $0 }
  }

  /// Runs the operation only while no other operation of the same categories runs, or not at all.
  ///
  /// - Parameters:
  ///   - categories: Types that name the categories, which need no values: `enum Alert {}`.
  ///   - maximumWait: The longest time to wait, zero to wait for nothing.
  /// - Returns: The operation with the categories in its preparation.
  public func mutuallyExclusive(
    _ categories: any Any.Type...,
    maximumWait: OperationDuration
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.exclusive(categories.map { OperationCategory($0) }, maximumWait) { $0 }
  }
}

extension OperationRequest {
  /// Runs the operation only while no other operation of the same categories runs, or not at all.
  ///
  /// For operations whose `Failure` cannot be ``OperationExclusionTimedOut``.
  ///
  /// - Parameters:
  ///   - categories: The names of the categories. Values of different types name different categories.
  ///   - maximumWait: The longest time to wait, zero to wait for nothing.
  ///   - failure: Returns the failure of a run that does not get its categories in time.
  /// - Returns: The operation with the categories in its preparation.
  public func mutuallyExclusive(
    _ categories: any (Hashable & Sendable)...,
    maximumWait: OperationDuration,
    else failure: @escaping @Sendable (OperationExclusionTimedOut) -> Failure
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.exclusive(categories.map { OperationCategory($0) }, maximumWait, failure)
  }

  /// Runs the operation only while no other operation of the same categories runs, or not at all.
  ///
  /// For operations whose `Failure` cannot be ``OperationExclusionTimedOut``.
  ///
  /// - Parameters:
  ///   - categories: Types that name the categories, which need no values: `enum Alert {}`.
  ///   - maximumWait: The longest time to wait, zero to wait for nothing.
  ///   - failure: Returns the failure of a run that does not get its categories in time.
  /// - Returns: The operation with the categories in its preparation.
  public func mutuallyExclusive(
    _ categories: any Any.Type...,
    maximumWait: OperationDuration,
    else failure: @escaping @Sendable (OperationExclusionTimedOut) -> Failure
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    self.exclusive(categories.map { OperationCategory($0) }, maximumWait, failure)
  }

  private func exclusive(
    _ categories: [OperationCategory],
    _ wait: Duration,
    _ failure: @escaping @Sendable (OperationExclusionTimedOut) -> Failure
  ) -> ModifiedOperation<Self, OperationPreparation<Self>> {
    let wait = wait.reportedIfNegative(in: "mutuallyExclusive(maximumWait:)").clampedForClock
    return self.prepared { $0.add(categories, waitingAtMost: wait, failure) }
  }
}
