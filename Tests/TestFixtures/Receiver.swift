import OperationTesting
import Synchronization
package import Testing

/// Values that a handler receives, and for which a test waits.
package final class Receiver<Value: Sendable>: Sendable {
  private struct State {
    var all: [Value] = []
    /// The number of calls of `next`.
    var nextCount = 0
    var waiters: [(condition: @Sendable ([Value]) -> Bool, gate: Gate)] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// The values received so far.
  package var all: [Value] { self.state.withLock { $0.all } }
  package var count: Int { self.state.withLock { $0.all.count } }

  package func receive(_ value: Value) {
    let gates = self.state.withLock { state in
      state.all.append(value)
      let all = state.all
      let gates = state.waiters.filter { $0.condition(all) }.map(\.gate)
      state.waiters.removeAll { $0.condition(all) }
      return gates
    }
    for gate in gates { gate.open() }
  }
}

// MARK: - Waiting

extension Receiver {
  /// Waits until `condition` holds for the values received so far.
  package func wait(
    sourceLocation: SourceLocation = #_sourceLocation,
    until condition: @escaping @Sendable ([Value]) -> Bool
  ) async throws {
    let gate = Gate()
    self.state.withLock { state in
      if condition(state.all) { gate.open() } else { state.waiters.append((condition, gate)) }
    }
    try await gate.wait(sourceLocation: sourceLocation)
  }

  /// Waits until this many values have been received.
  package func values(count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await self.wait(sourceLocation: sourceLocation) { $0.count >= count }
  }

  /// Waits for the value after the one that the last call returned.
  package func next(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Value {
    let index = self.state.withLock { state in
      state.nextCount += 1
      return state.nextCount - 1
    }
    try await self.values(count: index + 1, sourceLocation: sourceLocation)
    return self.all[index]
  }
}

extension Receiver where Value: Equatable {
  /// Waits until the last value is `value`.
  package func last(_ value: Value, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await self.wait(sourceLocation: sourceLocation) { $0.last == value }
  }
}
