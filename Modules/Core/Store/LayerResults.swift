/// What layers have made of states while a change was tried outside the lock, for the same change under the lock.
///
/// Layers are user code. A change that replays them is made twice: first of a draft, which calls them, and then of the
/// machine, which takes what they have made in the same order.
final class LayerResults<State: Sendable>: @unchecked Sendable {
  // Unchecked because it belongs to one change, which one thread makes.
  private var states: [State] = []
  private var taken: Int?

  func apply(_ layer: (inout State) -> Void, to state: inout State) {
    if let taken = self.taken {
      state = self.states[taken]
      self.taken = taken + 1
    } else {
      layer(&state)
      self.states.append(state)
    }
  }

  /// From now on what was made is taken.
  func replay() {
    self.taken = 0
  }
}
