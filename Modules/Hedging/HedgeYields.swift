internal import Synchronization

/// Decides which of the concurrent runs passes its yields on: the first one that yields, until it fails.
///
/// So the caller never receives a mixture of two runs.
final class HedgeYields: Sendable {
  private struct State {
    var leader: Int?
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Whether a run may yield now.
  func mayYield(_ index: Int) -> Bool {
    self.state.withLock { state in
      guard !state.isClosed else { return false }
      if state.leader == nil { state.leader = index }
      return state.leader == index
    }
  }

  /// Lets another run yield if this one did. Called when it has failed.
  func end(_ index: Int) {
    self.state.withLock { if $0.leader == index { $0.leader = nil } }
  }

  /// Drops all further yields. Called when a run has succeeded.
  func close() {
    self.state.withLock { $0.isClosed = true }
  }
}
