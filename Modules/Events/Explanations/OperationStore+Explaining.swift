public import OperationCore
internal import OperationFoundation

extension OperationStore {
  /// Explains what the store does and why: its value, staleness, subscribers, runs, and what comes next.
  ///
  /// ```swift
  /// print(store.explain())
  /// ```
  ///
  /// From the first explanation on, the store remembers its last runs and notices, for later explanations. It is written
  /// from ``/OperationCore/OperationStore/inspect()``, which has the same facts for code.
  ///
  /// - Returns: The explanation, which contains no value of the operation.
  /// - Complexity: O(*n*) in the number of subscribers, runs and modifiers.
  public func explain() -> OperationExplanation { OpaqueOperationStore(erasing: self).explain() }
}

extension OpaqueOperationStore {
  /// Explains what the store does and why: see ``OperationCore/OperationStore/explain()``.
  ///
  /// - Returns: The explanation, which contains no value of the operation.
  /// - Complexity: O(*n*) in the number of subscribers, runs and modifiers.
  public func explain() -> OperationExplanation {
    let history = self.history
    return OperationExplanation(self.inspectWithSections(), history)
  }
}

extension OperationClient {
  /// Explains what the store at a path does and why: see ``OperationCore/OperationStore/explain()``.
  ///
  /// - Parameter path: The path of an operation.
  /// - Returns: The explanation. If the path has no store, it says so.
  /// - Complexity: O(*n*) in the number of stores at paths that start with `path`.
  public func explain(_ path: OperationPath) -> OperationExplanation {
    let stores = self.stores(matching: path)
    if let store = stores[path] { return store.explain() }
    var explanation = OperationExplanation(path: ShownText.of(path))
    explanation.storesBelow = stores.count
    return explanation
  }
}

extension OperationExplanation {
  fileprivate init(path: String) {
    self.path = path
  }

  fileprivate init(_ store: StoreInspection, _ history: StoreHistory.Content) {
    self.init(path: ShownText.of(store.path))
    self.operationName = store.operationName
    self.kind = "\(store.operationType)"
    self.modifiers = store.modifiers
    self.date = store.date
    self.isRemoved = store.wasRemovedFromClient
    self.describe(store.confirmedState, at: store.date, origin: store.valueOrigin)
    self.isRestoring = store.isRestoring
    self.layerCount = store.layers.count
    self.layerAuthors = store.layers.map(\.author)
    self.staleness = store.staleness
    self.subscribers = store.subscribers
    self.automaticRunObstacle = store.automaticRunObstacle
    self.runs = store.runs.filter { $0.phase != .reserved }.map { Run($0, in: store) }
    let running = Set(store.runs.map(\.id))
    // The history is read later: a run that has ended meanwhile is told once.
    self.endedRuns = history.runs.reversed().filter { !running.contains($0.id) }.map { run in
      EndedRun(cause: run.cause, end: run.end, age: .since(run.date, at: store.date))
    }
    self.notices = history.notices.reversed().map { notice in
      let (name, text) = (notice.notice.name.description, notice.notice.textWithoutOperation)
      return Notice(name: name, text: text, age: .since(notice.date, at: store.date))
    }
    self.plans = store.plans
    self.sections = store.sections
  }

  /// Describes the value and the error of a state.
  private mutating func describe(_ state: some OperationState, at date: Date, origin: String?) {
    let text = ShownText.typeAndSize(of: state.currentValue)
    if state.valueUpdateCount > 0 || text != nil {
      let set = state.valueUpdateCount > 0 ? state.valueLastUpdatedAt : nil
      self.value = Value(typeAndSize: text, date: set, age: set.map { .since($0, at: date) }, origin: origin)
    }
    if let error = state.error, let set = state.errorLastUpdatedAt {
      self.failure = Failure(text: ShownText.of(error), age: .since(set, at: date))
    }
  }
}

extension StoreInspection {
  /// What happens next by itself.
  fileprivate var plans: [OperationExplanation.Plan] {
    let plans: [(action: String, delay: Duration?)] = [
      ("polls", self.nextPoll.map { $0 - self.elapsed }),
      ("becomes stale", self.staleness.freshUntil.map { .since(self.date, at: $0) }),
      ("is evicted", self.evictionDate.map { .since(self.date, at: $0) }),
    ]
    return plans.compactMap { plan in plan.delay.map { OperationExplanation.Plan(action: plan.action, delay: $0) } }
      .sorted { $0.delay < $1.delay }
  }

  /// Why the operation does not run by itself, in a sentence; nil if it does.
  fileprivate var automaticRunObstacle: String? {
    switch self.automaticRuns {
    case .allowed: nil
    case .never: "It runs only when it is called."
    case .stopped: "It does not run by itself: its client has stopped automatic runs."
    case .removed: "It does not run by itself: its client has removed it."
    case .waiting(let condition): "It does not run by itself until \(condition)."
    // Invalidations, polls and conditions run it as well.
    case .disabled where !self.context.isAutomaticRunningConfigured:
      "A new subscriber does not run it: automatic running is not enabled."
    case .disabled: "It does not run by itself: automatic running is disabled."
    }
  }
}

extension OperationExplanation.Run {
  fileprivate init(_ run: StoreInspection.Run, in store: StoreInspection) {
    let (attempt, next) = (run.attempt, run.attempt?.nextBegins)
    let pause = run.waits.first(where: \.isPause)
    func age(since start: Duration?) -> Duration? { start.map { max(store.elapsed - $0, .zero) } }
    self.init(
      task: "\(run.id)",
      cause: run.cause,
      age: age(since: run.start?.elapsed),
      attempt: attempt.map { next == nil ? $0.index : $0.index + 1 },
      attemptLimit: run.attemptLimit,
      nextAttempt: next.map { .since(store.date, at: $0) },
      nextAttemptReason: next == nil ? nil : attempt?.lastFailure?.reasonForDelay,
      lastFailure: attempt?.lastFailure.map { ShownText.of($0) },
      timeLeft: run.timeLimitEnd.map { max($0 - store.elapsed, .zero) },
      pause: pause?.subject(),
      pauseAge: age(since: pause?.start),
      waits: run.waits.filter { !$0.isPause }.map { .init(subject: $0.subject(), age: age(since: $0.start)) },
      joinedCallers: max(run.callerCount + (run.isForSubscribers ? 1 : 0) - 1, 0),
      isCurrent: run.isCurrent,
      isFollowed: store.needsRerun && !run.isCurrent
    )
  }
}

extension OperationNotice {
  /// The name and the attributes.
  fileprivate var textWithoutOperation: String {
    ([self.name.description] + self.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
      .joined(separator: " ")
  }
}
