/// What a clearing waits for: the bodies of runs, and the objects that are attached to the client.
final class ClearingWork: Sendable {
  typealias Remaining = ClearingError.Remaining
  // On the executor of its task, so that it begins on the current thread.
  typealias Body = nonisolated(nonsending) @Sendable () async -> [Remaining]

  private struct Part: Sendable {
    /// What is left if the part does not end in time.
    let remaining: @Sendable () -> [Remaining]
    var task: Task<Void, Never>?
  }

  private enum Phase: Sendable {
    /// Parts are added.
    case beginning
    /// All parts were added, and their ends are awaited.
    case awaited
    /// What has not ended is left.
    case over
  }

  private struct State: Sendable {
    var phase = Phase.beginning
    var parts: [Int: Part] = [:]
    var lastPart = 0
    var remaining: [Remaining] = []
  }

  private let state = Locked(State())
  private let outcome = AwaitedOutcome<Void>()
  /// The executor that its tasks prefer, as the runs of the client do.
  private let executor: (any TaskExecutor)?

  init(on executor: (any TaskExecutor)?) {
    self.executor = executor
  }

  /// Adds a part, which begins on the current thread.
  ///
  /// - Parameters:
  ///   - name: The name of its task.
  ///   - body: Does the work, and returns what is left.
  ///   - remaining: What is left if it does not end in time.
  func begin(
    _ name: String,
    _ body: @escaping Body,
    remaining: @escaping @Sendable () -> [Remaining]
  ) {
    let id = self.state.withLock { state in
      state.lastPart += 1
      state.parts[state.lastPart] = Part(remaining: remaining)
      return state.lastPart
    }
    let task = Task.immediate(name: name, executorPreference: self.executor) { [weak self] in
      let remaining = await body()
      self?.end(id, remaining)
    }
    self.state.withLock { $0.parts[id]?.task = task }
  }

  private func end(_ id: Int, _ remaining: [Remaining]) {
    let isDone = self.state.withLock { state, released in
      guard state.phase != .over, let part = state.parts.removeValue(forKey: id) else { return false }
      released.append(part)
      state.remaining += remaining
      return state.phase == .awaited && state.parts.isEmpty
    }
    if isDone { self.outcome.decide() }
  }

  /// Waits for all parts, also in a cancelled task.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait. Parts that have not ended then are cancelled.
  ///   - deadlines: Measure the time.
  /// - Returns: What is left.
  nonisolated(nonsending) func remaining(within limit: Duration, on deadlines: any DeadlineSource) async -> [Remaining]
  {
    let isDone = self.state.withLock { state in
      state.phase = .awaited
      return state.parts.isEmpty
    }
    if !isDone {
      let deadline = deadlines.schedule(after: limit.clampedForClock) { [outcome] in outcome.decide() }
      await self.outcome.value()
      deadline.cancel()
    }
    let (remaining, parts) = self.state.withLock { state in
      state.phase = .over
      defer { state.parts = [:] }
      return (state.remaining, state.parts.sorted { $0.key < $1.key }.map(\.value))
    }
    for part in parts { part.task?.cancel() }
    return remaining + parts.flatMap { $0.remaining() }
  }
}
