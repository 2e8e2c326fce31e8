import Synchronization

/// A number that only grows, and for which one can wait.
final class Counter: Sendable {
  private struct State {
    var count = 0
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var count: Int { self.state.withLock { $0.count } }

  func increment() {
    let reached = self.state.withLock { state in
      state.count += 1
      let count = state.count
      let reached = state.waiting.filter { $0.count <= count }
      state.waiting.removeAll { $0.count <= count }
      return reached
    }
    for waiting in reached { waiting.continuation.resume() }
  }

  /// Waits until the number is at least `count`.
  func reaches(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = self.state.withLock { state in
        if state.count < count { state.waiting.append((count, continuation)) }
        return state.count >= count
      }
      if isThere { continuation.resume() }
    }
  }
}
