internal import OperationFoundation

/// What is found in a store by one look under its lock. Its members call code of users, with no lock held.
struct StoreReading: Sendable {
  /// A run in the machine, or one that is reserved.
  struct Run: Sendable {
    let task: ErasedTask
    let phase: StoreInspection.Run.Phase
    let isCurrent: Bool
    let isForSubscribers: Bool
    let ownerCount: Int
  }

  /// The context of the store.
  let context: OperationContext
  /// The entry of the client that has the store; nil for none.
  let entry: (any StoreMembership)?
  let wasInClient: Bool
  let state: any StoredState
  let shownState: any StoredState
  let isIdle: Bool
  let invalidations: Int
  let answeredInvalidations: Int
  let invalidation: InvalidationRecord?
  let layers: [StateLayer]
  let subscribers: [SubscriberName?]
  let runs: [Run]
  let needsRerun: Bool
  let polls: [ObjectIdentifier: PlannedPoll]
  let runWaits: [UInt64: RunWaitNote]
  let valueOrigin: ValueOrigin?
}

extension StoreRuntime {
  /// Reads the store once, with its lock held.
  func read() -> StoreReading {
    self.withMachine { machine in
      let extras = machine.extras?.content
      return StoreReading(
        context: machine.context,
        entry: self.lockedEntry,
        wasInClient: self.wasInClient,
        state: machine.state,
        shownState: machine.shownState,
        isIdle: machine.isIdle,
        invalidations: machine.invalidations,
        answeredInvalidations: machine.answeredInvalidations,
        invalidation: extras?.invalidation,
        layers: machine.layers,
        subscribers: machine.subscribers.names,
        runs: machine.readRuns(),
        needsRerun: machine.needsRerun,
        polls: extras?.polls ?? [:],
        runWaits: extras?.runWaits ?? [:],
        valueOrigin: machine.shownValueOrigin
      )
    }
  }
}

extension StoreMachine {
  fileprivate func readRuns() -> [StoreReading.Run] {
    let invalidations = self.invalidations
    let subscriberRuns = Set(self.subscriberRuns.map(\.id))
    func run(_ task: ErasedTask, _ phase: StoreInspection.Run.Phase, isCurrent: Bool) -> StoreReading.Run {
      StoreReading.Run(
        task: task,
        phase: phase,
        isCurrent: isCurrent,
        isForSubscribers: subscriberRuns.contains(task.id),
        ownerCount: task.sharedRun.withState { $0.ownerCount }
      )
    }
    return self.runs.map { started in
      let phase: StoreInspection.Run.Phase =
        started.isSkipped ? .skipped : started.isPremature ? .premature : .started
      return run(started.task, phase, isCurrent: started.isShown && started.invalidations >= invalidations)
    } + self.reservedTasks.map { run($0, .reserved, isCurrent: $0.sharedRun.isAlive) }
  }
}

// MARK: - After the lock

extension StoreReading {
  /// Whether the state was stale, and why.
  ///
  /// - Parameters:
  ///   - context: The context, with its clock stopped at the date of the inspection.
  ///   - isRefreshed: Whether the operation runs by itself, so that a stale value is refreshed.
  /// - Returns: The finding.
  func staleness(in context: OperationContext, isRefreshed: Bool) -> OperationStaleness {
    let isInvalidated = self.invalidations > self.answeredInvalidations
    let state = self.state.typed
    return context.staleness(
      of: state,
      self.state.stamp,
      afterInvalidation: isInvalidated ? OperationStaleness(of: self.invalidation) : nil,
      isRefreshed: isRefreshed
    )
  }

  /// The elapsed time of the next poll whose condition holds; nil if there is none.
  func nextPoll(in context: OperationContext) -> Duration? {
    if self.subscribers.isEmpty { return nil }
    return self.polls.values.filter { $0.specification.isSatisfied(in: context) }.map(\.elapsed).min()
  }

  /// When the cache of the client evicts the store; nil while it is in use.
  var evictionDate: Date? {
    self.isIdle ? self.entry?.evictionDate : nil
  }

  var inspectedRuns: [StoreInspection.Run] {
    let notes = self.runWaits.sorted { $0.key < $1.key }
    return self.runs.map { run in
      let context = run.task.context
      return StoreInspection.Run(
        id: run.task.id,
        phase: run.phase,
        cause: context.operationRunCause ?? .call,
        context: context,
        start: run.phase == .reserved ? nil : context.run.origin?.start,
        attempt: context.run.shownAttempt,
        waits: run.waits(notes.filter { $0.value.run == run.task.id }),
        callerCount: max(run.ownerCount - (run.isForSubscribers ? 1 : 0), 0),
        isForSubscribers: run.isForSubscribers,
        isCurrent: run.isCurrent
      )
    }
  }
}

extension StoreReading.Run {
  /// The pause and the noted waits of the run, and calls of its work without a note.
  fileprivate func waits(_ notes: [(key: UInt64, value: RunWaitNote)]) -> [StoreWait] {
    let pause = self.task.context.run.attempts?.pause.map { StoreWait($0) }
    let noted = notes.map { StoreWait($0.key, $0.value) }
    let called = self.task.sharedRun.calledNodes.filter { node in
      let path = node.storePath
      return !notes.contains { note in note.value.path.map { $0 == path } ?? (note.value.isCall && path == nil) }
    }
    return [pause].compactMap(\.self) + noted + called.compactMap { StoreWait(called: $0) }
  }
}

extension SharedRun {
  /// The runs of other operations and the batches that the work of the run has called and that have not ended.
  fileprivate var calledNodes: [any WaitNode] {
    var (found, left): ([any WaitNode], [any WaitNode]) = ([], [self])
    var known: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    while let node = left.popLast() {
      for edge in node.allWaits where edge.isCall && known.insert(ObjectIdentifier(edge.node)).inserted {
        if let run = edge.node as? SharedRun {
          guard run.finishedOutcome == nil else { continue }
          // A deduplicated run is the work of the run itself.
          if run.storePath == nil, run.waitName == self.waitName {
            left.append(run)
            continue
          }
        }
        found.append(edge.node)
      }
    }
    return found
  }
}

extension WaitNode {
  /// The path of the store that the run of the node belongs to; nil for another node.
  var storePath: OperationPath? {
    (self as? SharedRun)?.withState { $0.delegate as? StoreRuntime }?.path
  }
}
