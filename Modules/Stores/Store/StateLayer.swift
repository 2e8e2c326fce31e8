/// An update that a store shows on top of its state without making it part of the state.
struct StateLayer: Sendable {
  let id: StateLayerIdentifier
  /// The name of the operation that has added the layer for a call; nil if it is unknown.
  var author: String?
  /// Applies the update.
  let apply: @Sendable (inout any StoredState) -> Void
  /// Passes the state without layers, the second parameter, to the state with all layers.
  let didReplaceValue: @Sendable (inout any StoredState, any StoredState) -> Void
  /// The layer is removed when an invalidation with this number or a greater one is answered; nil to keep it.
  var replacingInvalidation: Int?
}
