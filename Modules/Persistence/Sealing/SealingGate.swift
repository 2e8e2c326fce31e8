internal import OperationCore

/// Lets batches be applied at once, and what rewrites entries be alone.
final class SealingGate: Sendable {
  private struct State: Sendable {
    /// The batches that are being applied.
    var applying = 0
    /// How many batches have begun.
    var begun: UInt64 = 0
    /// Whether something is alone, or waits for the batches to end.
    var isClosed = false
    var waiting: [AwaitedOutcome<Void>] = []
  }

  private let state = Locked(State())

  /// Waits until a batch may be applied. ``leave()`` follows.
  nonisolated(nonsending) func enter() async {
    await self.wait { state in
      if state.isClosed { return false }
      state.applying += 1
      state.begun += 1
      return true
    }
  }

  func leave() {
    self.wake { $0.applying -= 1 }
  }

  /// Waits until no batch is being applied, and keeps further ones waiting until ``open()``.
  nonisolated(nonsending) func close() async {
    await self.wait { state in
      if state.isClosed { return false }
      state.isClosed = true
      return true
    }
    await self.wait { $0.applying == 0 }
  }

  func open() {
    self.wake { $0.isClosed = false }
  }

  /// The number of batches that have begun; nil while one is being applied.
  var quietMoment: UInt64? { self.state.withLock { $0.applying == 0 ? $0.begun : nil } }

  private nonisolated(nonsending) func wait(until body: (inout State) -> Bool) async {
    while true {
      let signal = self.state.withLock { state -> AwaitedOutcome<Void>? in
        if body(&state) { return nil }
        let signal = AwaitedOutcome<Void>()
        state.waiting.append(signal)
        return signal
      }
      guard let signal else { return }
      await signal.value()
    }
  }

  private func wake(_ body: (inout State) -> Void) {
    let signals = self.state.withLock { state -> [AwaitedOutcome<Void>] in
      body(&state)
      // While a batch is being applied that others do not wait for, none of the waiting can go on.
      guard !state.isClosed || state.applying == 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for signal in signals { signal.decide() }
  }
}
