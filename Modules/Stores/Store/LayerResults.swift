/// Records the states that layers produce, so that a change can be repeated under the lock without calling them.
///
/// Layers are user code. A change that replays them is made twice: first to a draft outside the lock, which calls the
/// layers and records their results, then to the machine under the lock, which reuses the results in the same order.
final class LayerResults: @unchecked Sendable {
  // Unchecked because it belongs to one change, and one thread makes a change.
  private var states: [any StoredState] = []
  /// The index of the next result to reuse; nil while results are recorded.
  private var replayIndex: Int?

  func apply(_ layer: (inout any StoredState) -> Void, to state: inout any StoredState) {
    if let index = self.replayIndex {
      state = self.states[index]
      self.replayIndex = index + 1
    } else {
      layer(&state)
      self.states.append(state)
    }
  }

  /// Reuses the recorded results from now on.
  func replay() {
    self.replayIndex = 0
  }
}
