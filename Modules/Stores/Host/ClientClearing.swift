internal import Synchronization

/// One call of ``OperationClient/clearEverything(within:switching:)``, and the gate that is closed meanwhile.
///
/// Runs that begin while the gate is closed wait before their work, and are shown as paused.
package final class ClientClearing: Sendable {
  package typealias Outcome = Result<Void, any Error>

  private struct State: Sendable {
    /// The calls that have joined this one.
    var joined: [AwaitedOutcome<Outcome>] = []
    var outcome: Outcome?
  }

  /// The number of closed gates in the process. A run looks for the gate of its client only while there are any.
  private static let closedCount = Atomic<Int>(0)
  /// The clearing whose `switching` the current task performs. What it runs passes the gate.
  private static let switching = TaskLocal<ClientClearing?>(wrappedValue: nil)

  private let state = Locked(State())
  private let isOpen = Broadcast(false)
  private let wasOpened = AtomicFlag(false)

  package init() {
    _ = Self.closedCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  deinit {
    self.open()
  }

  @inline(__always)
  static var areUnderWay: Bool { Self.closedCount.load(ordering: .relaxed) > 0 }

  /// Whether the current task switches from one user to another in this clearing.
  package var isSwitching: Bool { Self.switching.get() === self }

  package nonisolated(nonsending) func perform(
    _ switching: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    try await Self.switching.withValue(self) { try await switching() }
  }
}

// MARK: - The gate

extension ClientClearing: OperationRunSpecification, CustomStringConvertible {
  /// What the waiting runs show.
  package var description: String { "its client has forgotten the former user" }

  package func isSatisfied(in context: OperationContext) -> Bool { self.isOpen.value }

  package func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.isOpen.subscribe { _ in onChange() }
  }

  /// Lets the waiting runs begin.
  package func open() {
    if self.wasOpened.set(true) { return }
    _ = Self.closedCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    self.isOpen.send(true)
  }
}

// MARK: - Joining

extension ClientClearing {
  /// Waits for the end of the clearing, on behalf of another call.
  package nonisolated(nonsending) func joined() async throws {
    let wait = AwaitedOutcome<Outcome>()
    let outcome = self.state.withLock { state in
      if state.outcome == nil { state.joined.append(wait) }
      return state.outcome
    }
    if let outcome { return try outcome.get() }
    try await wait.value(cancelled: .failure(CancellationError())).get()
  }

  /// Ends the calls that have joined this one.
  package func end(_ outcome: Outcome) {
    let joined = self.state.withLock { state in
      state.outcome = outcome
      defer { state.joined = [] }
      return state.joined
    }
    for wait in joined { wait.decide(outcome) }
  }
}

extension StoreRuntime {
  /// Waits at the gate of a client that is clearing everything.
  ///
  /// - Returns: The outcome of a run that was cancelled meanwhile, and does no work; nil for a run that goes on.
  @inline(never)
  nonisolated(nonsending) func outcomeAtGate(_ invocation: RunInvocation) async -> RunOutcome? {
    guard let clearing = invocation.context.storeHost?.clearing, !clearing.isSwitching,
      // It is of the former user: it ends as soon as it can.
      !invocation.sharedRun.isCancelled
    else { return nil }
    guard await invocation.context.pause(until: clearing) == .cancelled else { return nil }
    return invocation.sharedRun.cancellation
  }

  /// Calls an operation that runs only when it is called, and lets it sign the user out.
  // Not inlined: the run of a query would allocate room for it.
  @inline(never)
  nonisolated(nonsending) func performMutation(_ invocation: RunInvocation) async -> RunOutcome {
    await CallingRun.perform(invocation.sharedRun.id) {
      await self.operation.run(invocation.context, invocation)
    }
  }
}

extension StoreRuntime {
  /// Empties the state, hides all runs, and removes all layers. Called when the client forgets everything.
  ///
  /// - Returns: The runs, which the caller cancels.
  package func forget() -> [SharedRun] {
    self.willReset()
    let context = self.eventContext(nil)
    var runs: [SharedRun] = []
    self.change(context, event: .stateWritten(.reset), by: .ofCurrentCode()) { machine, released in
      let reset = machine.reset(using: context, &released)
      if machine.hasLayers {
        released.append(machine.layers)
        machine.layers = []
      }
      released.append(machine.state)
      machine.state.removeInitialValue()
      runs = (reset.tasks + machine.reservedTasks).map(\.sharedRun) + machine.finishingRuns
      return reset.change
    }
    return runs
  }
}
