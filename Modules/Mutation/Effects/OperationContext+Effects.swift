package import OperationCore

extension OperationContext {
  /// The effects of the call that the context belongs to; nil outside of a call with effects.
  var mutationEffects: MutationEffects.Membership? {
    get { self[MutationEffectsKey.self] }
    set { self[MutationEffectsKey.self] = newValue }
  }

  private enum MutationEffectsKey: Key {
    static let defaultValue: MutationEffects.Membership? = nil
  }

  /// Takes the place of the call's optimistic updates among other calls' updates; nil if it makes none.
  package func takeOptimisticPlace() -> StateLayerPlace? {
    guard let effects = self.mutationEffects?.effects, effects.run == self.operationRunningTaskIdentifier
    else { return nil }
    return effects.takePlace()
  }

  /// The place that the call had when it was first made; nil for a new call.
  package var earlierOptimisticPlace: StateLayerPlace? {
    get { self[EarlierOptimisticPlaceKey.self] }
    set { self[EarlierOptimisticPlaceKey.self] = newValue }
  }

  private enum EarlierOptimisticPlaceKey: Key {
    static let defaultValue: StateLayerPlace? = nil
  }

  /// Returns the client whose stores a mutation changes. Reports a warning if the context has none.
  func clientForEffects(of path: OperationPath) -> OperationClient? {
    if let client = self.operationClient { return client }
    OperationWarning(
      code: .noClient,
      message: """
        The mutation at \(ShownText.of(path)) runs without a client, so it changes no other store. Get its store from \
        an `OperationClient`, or set `operationClient` in its context.
        """
    ).report()
    return nil
  }
}
