internal import OperationCore
internal import OperationFoundation

/// Distinguishes stored states without comparing their values.
struct StateStamp: Equatable, Sendable {
  let valueUpdateCount: Int
  let valueLastUpdatedAt: Date?
  let errorUpdateCount: Int
  var isInvalidated: Bool
  let uncountedChanges: Int

  /// Makes the stamp of a state; nil if it has no value.
  init?(_ state: some OperationState, isInvalidated: Bool, uncountedChanges: Int) {
    guard state.valueUpdateCount > 0 else { return nil }
    self.valueUpdateCount = state.valueUpdateCount
    self.valueLastUpdatedAt = state.valueLastUpdatedAt
    self.errorUpdateCount = state.errorUpdateCount
    self.isInvalidated = isInvalidated
    self.uncountedChanges = uncountedChanges
  }
}
