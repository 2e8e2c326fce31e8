package import OperationCore

/// An update that is shown in any number of stores.
package protocol EffectLayer: Sendable {
  /// Removes the layer from the stores.
  func fail()

  /// Makes the layer part of the values, except in the invalidated stores, where the next refetch removes it.
  func succeed(invalidating stores: InvalidatedStores)

  /// Makes the layer part of the values whose refetch is not active, or ends without a value.
  ///
  /// Called after the invalidation.
  func commitAtRest()

  /// Takes the value that an attempt of the call has returned, before `succeed`. The default does nothing.
  func callReturned(_ value: any Sendable)
}

extension EffectLayer {
  package func callReturned(_ value: any Sendable) {}
}

extension MutationRequest {
  /// Runs a call inside of a modifier, and shows an update from the first attempt to the end of the last.
  ///
  /// `setup` of a modifier of another module calls `OperationContext.addMutationEffects()`.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the caller.
  ///   - context: The context of the call.
  ///   - continuation: Receives what the call yields.
  ///   - id: Identifies the modifier.
  ///   - layer: Makes the update for the arguments of the call, at a place among the updates of other calls.
  /// - Returns: The value of the call.
  /// - Throws: The error of the call.
  package func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>,
    showing id: EffectIdentifier,
    as layer: @escaping @Sendable (Arguments, OperationClient, StateLayerPlace) -> any EffectLayer
  ) async throws(MutateFailure) -> MutateValue {
    try await self.run(isolation: isolation, in: context, with: continuation) { call in
      let client = call.client
      let remake: MutationEffects.LayerMaker = { arguments, place in
        (arguments as? Arguments).map { layer($0, client, place) }
      }
      call.share.effects.begin(id, remaking: remake) { layer(call.arguments, client, $0) }
    } end: { call, outcome in
      if case .success(let value) = outcome { call.share.returned(value, to: id) }
      // A cancelled call counts as failed, even if it has returned a value.
      call.share.end(id, isSuccess: outcome.isSuccess && !Task.isCancelled)
    }
  }
}
