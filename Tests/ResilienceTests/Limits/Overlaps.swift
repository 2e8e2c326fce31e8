import OperationCore
import Synchronization

/// Counts how many runs are under way at once.
final class Overlaps: Sendable {
  private let state = Mutex((current: 0, maximum: 0))

  var maximum: Int { self.state.withLock { $0.maximum } }

  func enter() {
    self.state.withLock { state in
      state.current += 1
      state.maximum = max(state.maximum, state.current)
    }
  }

  func leave() {
    self.state.withLock { $0.current -= 1 }
  }
}

/// An operation that suspends once, and is counted while it runs.
struct CountedOperation: OperationRequest, Sendable {
  let overlaps: Overlaps

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    self.overlaps.enter()
    defer { self.overlaps.leave() }
    await Task {}.value
  }
}
