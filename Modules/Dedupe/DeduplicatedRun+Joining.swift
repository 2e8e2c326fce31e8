public import OperationCore

extension DeduplicatedRun {
  // Not inlined: callers that lend their task would allocate room for this wait, too.
  @inlinable
  @inline(never)
  nonisolated(nonsending) func beginInOwnTask() async -> Outcome {
    guard let sharedRun = self.makeSharedRunIfNeeded() else { preconditionFailure("A run has ended before it began.") }
    let context = self.context
    if let loan = context.taskLoan {
      loan.note(awaited: sharedRun)
    } else if EnclosingRun.exists {
      EnclosingRun.note(awaited: sharedRun)
    }
    let outcome = await Self.raisingPriority(of: sharedRun) {
      await sharedRun.startAndWait(in: context, leaving: .atOnce, isAlreadyOwner: true, delegate: self)
    }
    self.removeLeader()
    return outcome
  }

  /// Joins the run and waits for its outcome. Returns nil when the run is cancelled or has finished.
  // Not inlined: callers that begin a run would allocate room for this wait, too.
  @inlinable
  @inline(never)
  nonisolated(nonsending) func join(in context: OperationContext, with continuation: Continuation) async -> Outcome? {
    guard let sharedRun = self.makeSharedRunIfNeeded() else { return nil }
    var id: UInt64?
    context.taskLoan?.note(awaited: sharedRun)
    let outcome = await Self.raisingPriority(of: sharedRun) {
      await sharedRun.joinIfAlive(leaving: .atOnce) {
        id = self.catchUp(continuation, in: context)
        context.noteJoin()
      }
    }
    if let id { self.remove(id) }
    return outcome
  }

  /// Waits, and raises the priority of the run whenever that of the waiting task is raised.
  @inlinable
  nonisolated(nonsending) static func raisingPriority<R>(
    of sharedRun: Run,
    _ wait: nonisolated(nonsending) () async -> R
  ) async -> R {
    await withTaskPriorityEscalationHandler {
      await wait()
    } onPriorityEscalated: { _, priority in
      sharedRun.raise(to: priority)
    }
  }

  /// Passes the last result and the progress to a caller that joins late, and then adds its continuation.
  @inlinable
  func catchUp(_ continuation: Continuation, in context: OperationContext) -> UInt64 {
    let listenerContext = context.hasProgressStore ? context : nil
    var seen = 0
    var seenProgress: RelayedProgress?
    while true {
      let (id, missed, progress) = self.withState { state -> (UInt64?, Yield?, RelayedProgress?) in
        if listenerContext != nil, let progress = state.progress, progress !== seenProgress {
          return (nil, nil, progress)
        }
        if let last = state.lastYield, last.number > seen { return (nil, last, nil) }
        return (state.add(continuation, listenerContext), nil, nil)
      }
      if let id { return id }
      if let progress {
        seenProgress = progress
        for missed in progress.missed { context.reportToStore(missed) }
      }
      guard let missed else { continue }
      seen = missed.number
      continuation.yield(with: missed.result, using: missed.context)
    }
  }

  @usableFromInline
  func removeLeader() {
    let removed = self.withState { $0.leader.take() }
    _ = consume removed  // Released after unlocking.
  }

  @inlinable
  func remove(_ id: UInt64) {
    let removed = self.withState { $0.listeners?.remove(id) }
    withExtendedLifetime(removed) {}  // Released after unlocking.
  }

  /// Removes the continuations of all callers. Called when the run has finished.
  @inlinable
  func removeAll() {
    // Captured, not returned: returning them from `withState` looks up their type where the code is not specialized.
    var leader: Continuation?
    var listeners: Listeners?
    self.withState { state in
      (leader, listeners) = (state.leader, state.listeners)
      (state.leader, state.listeners) = (nil, nil)
    }
    // Released after unlocking.
    _ = consume leader
    _ = consume listeners
  }
}
