internal import Synchronization

/// The wait of a task that the work of a run has made, such as a `Task { }`, for another run.
///
/// If the work of the run awaits the task, the run waits for the other run, too. The standard library does not tell what a
/// task awaits. But when the priority of a task rises, it raises what the task awaits. So where a cycle depends on it, this
/// raises the task of the run by a step. If the priority of the waiting task rises then, the run awaits that task.
final class UnstructuredWait: Sendable {
  private struct State: Sendable {
    /// The priority of the waiting task.
    var priority: UInt8
    /// What the task of the run was raised to; 0 before.
    var raised: UInt8 = 0
    var isRaising = false
    var isAwaited = false
    /// Whether the waiter leaves, or has left.
    var hasLeft = false
    /// The names of the cycle that the wait was in; nil for none.
    var cycle: [String]?
    var hasSuspicion = false
    /// Reports a suspicion.
    var deadline: OperationSubscription?
  }

  /// The number of these waits in the process. Callers search for them only if there are some.
  private static let count = Atomic(0)

  /// What is waited for.
  let node: SharedRun
  let waiter: WaiterTable.WaiterID
  /// The waits of the run whose work has made the task.
  private let waits: RunWaits
  private let state: Mutex<State>

  private init(of waits: RunWaits, for node: SharedRun, at waiter: WaiterTable.WaiterID) {
    (self.waits, self.node, self.waiter) = (waits, node, waiter)
    self.state = Mutex(State(priority: RunTask.currentPriority))
  }

  /// The wait of the current task, if the work of a run has made that task and goes on.
  static func ofCurrentTask(for node: SharedRun, at waiter: WaiterTable.WaiterID) -> UnstructuredWait? {
    EnclosingRun.exists ? self.inEnclosingRun(for: node, at: waiter) : nil
  }

  // Not inlined: most tasks belong to no run.
  @inline(never)
  private static func inEnclosingRun(for node: SharedRun, at waiter: WaiterTable.WaiterID) -> UnstructuredWait? {
    guard let waits = EnclosingRun.run as? RunWaits, waits.isInUnstructuredTask else { return nil }
    return UnstructuredWait(of: waits, for: node, at: waiter)
  }

  static var exist: Bool { self.count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Whether the work of the run is known to await the task.
  var isAwaited: Bool { self.state.withLock { $0.isAwaited } }
}

// MARK: - The wait

extension UnstructuredWait {
  /// Adds the wait to the graph, and ends it if it closes a cycle. Called in the waiting task.
  func begin() {
    self.waits.add(self)
    Self.count.add(1, ordering: .sequentiallyConsistent)
    WaitGraph.noteEdge()
    self.endIfCyclic()
  }

  /// Removes the wait from the graph. Returns the names of the cycle that has ended it; nil for none.
  func end() -> [String]? {
    Self.count.subtract(1, ordering: .sequentiallyConsistent)
    self.waits.remove(self)
    let (cycle, deadline) = self.state.withLock { state in
      state.hasLeft = true
      return (state.cycle, state.deadline.take())
    }
    deadline?.cancel()
    return cycle
  }

  /// Whether the caller has to let the waiter leave: true once.
  func takeLeave() -> Bool {
    self.state.withLock { state in
      defer { state.hasLeft = true }
      return !state.hasLeft
    }
  }

  /// Notes that the priority of the waiting task has risen.
  // The runtime calls this with a lock of the task held, so what follows has a task of its own.
  func noteRise(to priority: UInt8) {
    let isLate = self.state.withLock { state in
      state.priority = max(state.priority, priority)
      // Where no step is left to try, a rise to the last one has to do.
      if state.isRaising || (state.raised != 0 && Self.step(after: priority) == nil) { state.isAwaited = true }
      return !state.isRaising && state.raised != 0
    }
    if isLate { Task.detached { self.endIfCyclic() } }
  }
}

// MARK: - Cycles

extension UnstructuredWait {
  /// A way from a node to another, along calls and the waits of tasks that runs have made.
  private struct Path {
    struct Step {
      let node: any WaitNode
      /// The run whose work has made the task that waits for the node, and the wait; nil for a call.
      let wait: (run: SharedRun, wait: UnstructuredWait)?
    }

    let steps: [Step]

    /// The shortest way; nil if there is none.
    init?(from start: any WaitNode, to isGoal: (any WaitNode) -> Bool) {
      var search = GraphSearch<Step, ObjectIdentifier>()
      search.add(Step(node: start, wait: nil), ObjectIdentifier(start))
      while let (number, step) = search.next() {
        if isGoal(step.node) {
          self.steps = search.path(to: number)
          return
        }
        for edge in step.node.allWaits where edge.isCall {
          search.add(Step(node: edge.node, wait: nil), ObjectIdentifier(edge.node), after: number)
        }
        guard let run = step.node as? SharedRun, run.isExecuting else { continue }
        for wait in run.waitsOfWork?.unstructured ?? [] {
          search.add(Step(node: wait.node, wait: (run, wait)), ObjectIdentifier(wait.node), after: number)
        }
      }
      return nil
    }

    var names: [String] { WaitGraph.names(of: self.steps.map(\.node)) }

    /// Finds out whether all of the tasks are awaited. If not, it may turn out later.
    func isAwaited() -> Bool {
      self.steps.reduce(true) { isAwaited, step in
        guard let (run, wait) = step.wait else { return isAwaited }
        return wait.findOut(raising: run) && isAwaited
      }
    }
  }

  /// Finds out whether a node that the current task would join waits for it, through tasks that are awaited.
  static func findOut(joining node: any WaitNode) -> Bool {
    guard let path = Path(from: node, to: { $0.isEndedHere }) else { return false }
    if path.isAwaited() { return true }
    path.steps.lazy.compactMap(\.wait).first?.wait.suspect()
    return false
  }

  /// Ends the wait if it is in a cycle.
  private func endIfCyclic() {
    guard let (path, run) = self.path() else { return }
    let isAwaited = self.findOut(raising: run)
    if path.isAwaited(), isAwaited { self.end(cycle: path.names) } else { self.suspect() }
  }

  /// The way from what is waited for to the run that has made the task, with that run.
  private func path() -> (Path, SharedRun)? {
    var run: SharedRun?
    let path = Path(from: self.node) { node in
      run = node as? SharedRun
      return run?.waitsOfWork === self.waits
    }
    return if let path, let run { (path, run) } else { nil }
  }

  private func end(cycle: [String]) {
    let canLeave = self.node.cancellation != nil && OperationCycleError.isFailure(self.node.failureType)
    let isFirst = self.state.withLock { state in
      if state.hasLeft || state.cycle != nil { return false }
      state.cycle = cycle
      if canLeave { state.hasLeft = true }
      return true
    }
    if !isFirst { return }
    if !canLeave { return OperationCycleError(operationNames: cycle).report() }
    self.node.leave(self.waiter, isOwner: true, leaving: .atOnce)
  }
}

// MARK: - Whether the task is awaited

extension UnstructuredWait {
  /// The priorities that both the standard library and the systems know.
  private static let steps: [UInt8] = [
    TaskPriority.utility.rawValue, TaskPriority.medium.rawValue, TaskPriority.high.rawValue,
    TaskPriority.high.rawValue + 8,  // User-interactive, which has no name.
  ]

  /// The next higher priority; nil after the highest.
  private static func step(after priority: UInt8) -> UInt8? { self.steps.first { $0 > priority } }

  /// Whether `run`, whose work has made the task, awaits it. If that is unknown, a rise of the task's priority tells it.
  private func findOut(raising run: SharedRun) -> Bool {
    let (isAwaited, priority) = self.state.withLock { state -> (Bool, UInt8?) in
      // A run that was raised raises the task as soon as it awaits it.
      guard !state.isAwaited, state.raised <= state.priority, let next = Self.step(after: state.priority) else {
        return (state.isAwaited, nil)
      }
      (state.raised, state.isRaising) = (next, true)
      return (false, next)
    }
    guard let priority else { return isAwaited }
    run.raise(to: TaskPriority(rawValue: priority))
    return self.state.withLock { state in
      state.isRaising = false
      return state.isAwaited
    }
  }
}

// MARK: - Suspicion

extension UnstructuredWait {
  /// In debug builds, reports the cycle that the wait may be in if it lasts.
  private func suspect() {
    #if DEBUG
      let isFirst = self.state.withLock { state in
        defer { state.hasSuspicion = true }
        return !state.hasSuspicion && !state.hasLeft
      }
      if !isFirst { return }
      let store = self.node.withState { $0.delegate } as? StoreRuntime
      let deadlines = store?.context.operationDeadlines ?? SystemDeadlineSource()
      let deadline = deadlines.schedule(after: Self.patience) { [weak self] in self?.reportSuspicion() }
      let hasLeft = self.state.withLock { state in
        if !state.hasLeft { state.deadline = deadline }
        return state.hasLeft
      }
      if hasLeft { deadline.cancel() }
    #endif
  }

  #if DEBUG
    private static let patience = Duration.seconds(10)

    private func reportSuspicion() {
      guard let (path, run) = self.path() else { return }
      let maker = run.waitName ?? "An operation"
      OperationWarning(
        code: .taskCycle,
        message: """
          A task that \(maker) has made has waited for \(Self.patience.components.seconds) seconds for a run that waits for \
          \(maker): \(path.names.joined(separator: " → ")). If \(maker) waits for that task, none of them ends. Await what \
          an operation calls in its own task, in `async let` or in a task group, so that a cycle fails at once.
          """
      ).report()
    }
  #endif
}
