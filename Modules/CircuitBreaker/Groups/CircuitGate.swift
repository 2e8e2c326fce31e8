internal import Synchronization

/// Bounds how many breakers of a group are open at once. The breakers use it under their own locks; it calls nothing.
final class CircuitGate: Sendable {
  private struct State {
    var share: Double
    var members = 0
    var open = 0

    /// Whether one more may open. One may always be open: in a group of two, half of them is one.
    var hasPlace: Bool {
      self.open == 0 || Double(self.open + 1) / Double(max(self.members, 1)) <= self.share
    }
  }

  private let state: Mutex<State>

  init(share: Double) {
    self.state = Mutex(State(share: share))
  }

  var share: Double { self.state.withLock { $0.share } }
  var openCount: Int { self.state.withLock { $0.open } }
  var hasPlace: Bool { self.state.withLock { $0.hasPlace } }

  func setShare(_ share: Double) { self.state.withLock { $0.share = share } }
  func addMember() { self.state.withLock { $0.members += 1 } }
  func removeMember() { self.state.withLock { $0.members -= 1 } }

  /// Takes the place of an open breaker. Returns false if there is none; a forced one always has a place.
  func take(isForced: Bool) -> Bool {
    self.state.withLock { state in
      guard isForced || state.hasPlace else { return false }
      state.open += 1
      return true
    }
  }

  func leave() { self.state.withLock { $0.open -= 1 } }
}
