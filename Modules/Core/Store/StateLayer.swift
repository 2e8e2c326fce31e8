/// An update that a store shows on top of its state without making it part of the state.
@usableFromInline
struct StateLayer<State: OperationState & Sendable>: Sendable {
  let id: StateLayerIdentifier
  /// Applies the update.
  let apply: @Sendable (inout State) -> Void
  /// Passes the state without layers, the second parameter, to a state that all layers were applied to.
  let didReplaceValue: @Sendable (inout State, State) -> Void
  /// The layer is removed when an invalidation with this number or a greater one is answered; nil to keep it.
  var replacingInvalidation: Int?
}
