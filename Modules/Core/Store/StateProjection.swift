/// Access to a stored state as a state of type `Target`: the state itself, or a base of it.
struct StateProjection<Target: OperationState & Sendable>: Sendable {
  private let body: @Sendable (inout any StoredState, (inout Target) -> Void) -> Void

  /// Creates the projection from states of one type; nil if `Target` is neither that type nor one of its bases.
  init?<State: OperationState & Sendable>(from state: State.Type) {
    let whole = StateProjection<State> { stored, body in stored.edit(as: State.self, body) }
    guard let projection = whole.projection(to: Target.self) else { return nil }
    self = projection
  }

  private init(_ body: @escaping @Sendable (inout any StoredState, (inout Target) -> Void) -> Void) {
    self.body = body
  }

  func edit(_ stored: inout any StoredState, _ body: (inout Target) -> Void) {
    self.body(&stored, body)
  }

  func state(in stored: any StoredState) -> Target {
    var (stored, state) = (stored, Target?.none)
    self.body(&stored) { state = $0 }
    guard let state else { preconditionFailure("A projection did not call its body.") }
    return state
  }

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
    let base = StateProjection<Layered.Base> { stored, body in whole.edit(&stored) { body(&$0.base) } }
    return base.projection(to: other)
  }
}
