internal import OperationCore

/// An update that is shown in any number of stores.
protocol EffectLayer: Sendable {
  /// Removes the layer from the stores.
  func fail()

  /// Makes the layer part of the values, except in the invalidated stores, where the next refetch removes it.
  func succeed(invalidating stores: InvalidatedStores)

  /// Makes the layer part of the values whose refetch is not active, or ends without a value.
  ///
  /// Called after the invalidation.
  func commitAtRest()
}
