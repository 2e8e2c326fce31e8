/// Reads and changes a stored state as a state of type `Target`: the state itself, or a base of it.
struct StateProjection<Target: OperationState & Sendable>: Sendable {
  private let body: @Sendable (inout any StoredState, (inout Target) -> Void) -> Void
  private let read: @Sendable (any StoredState) -> Target

  /// Creates the projection for states of one type; nil if `Target` is neither that type nor one of its bases.
  init?<State: OperationState & Sendable>(from state: State.Type) {
    if State.self == Target.self {
      // As below, without looking up types.
      self.init(
        edit: { stored, body in stored.edit(as: Target.self, body) },
        read: { stored in stored.value(as: Target.self) }
      )
      return
    }
    let whole = StateProjection<State>(
      edit: { stored, body in stored.edit(as: State.self, body) },
      read: { stored in stored.value(as: State.self) }
    )
    guard let projection = whole.projection(to: Target.self) else { return nil }
    self = projection
  }

  private init(
    edit body: @escaping @Sendable (inout any StoredState, (inout Target) -> Void) -> Void,
    read: @escaping @Sendable (any StoredState) -> Target
  ) {
    self.body = body
    self.read = read
  }

  func edit(_ stored: inout any StoredState, _ body: (inout Target) -> Void) {
    self.body(&stored, body)
  }

  func state(in stored: any StoredState) -> Target { self.read(stored) }

  private func projection<Other>(to other: Other.Type) -> StateProjection<Other>? {
    if let same = self as? StateProjection<Other> { return same }
    guard let layered = Target.self as? any LayeredOperationState.Type else { return nil }
    return self.projection(to: other, throughBaseOf: layered)
  }

  private func projection<Other, Layered: LayeredOperationState>(
    to other: Other.Type,
    throughBaseOf layered: Layered.Type
  ) -> StateProjection<Other>? {
    guard let whole = self as? StateProjection<Layered> else { return nil }
    let base = StateProjection<Layered.Base>(
      edit: { stored, body in whole.edit(&stored) { body(&$0.base) } },
      read: { stored in whole.state(in: stored).base }
    )
    return base.projection(to: other)
  }
}
