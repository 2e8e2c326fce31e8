internal import OperationFoundation

extension OperationStore {
  /// Explains what the store does and why: its value, staleness, subscribers, runs, and what comes next.
  ///
  /// ```swift
  /// print(store.explain())
  /// ```
  ///
  /// From the first explanation on, the store remembers its last runs and notices, for later explanations.
  ///
  /// - Returns: The explanation, which contains no value of the operation.
  /// - Complexity: O(*n*) in the number of subscribers, runs and modifiers.
  public func explain() -> OperationExplanation { OpaqueOperationStore(erasing: self).explain() }
}

extension OpaqueOperationStore {
  /// Explains what the store does and why: see ``OperationStore/explain()``.
  ///
  /// - Returns: The explanation, which contains no value of the operation.
  /// - Complexity: O(*n*) in the number of subscribers, runs and modifiers.
  public func explain() -> OperationExplanation {
    let runtime = self.runtime
    var explanation = runtime.explanation(runtime.history)
    for explainer in runtime.explainers { explainer.explain(self, in: &explanation) }
    explanation.plans.sort { $0.delay < $1.delay }
    return explanation
  }
}

extension OperationClient {
  /// Explains what the store at a path does and why: see ``OperationStore/explain()``.
  ///
  /// - Parameter path: The path of an operation.
  /// - Returns: The explanation. If the path has no store, it says so.
  /// - Complexity: O(*n*) in the number of stores at paths that start with `path`.
  public func explain(_ path: OperationPath) -> OperationExplanation {
    let runtimes = self.storage.runtimes(matching: path)
    if let store = runtimes.first(where: { $0.path == path })?.reference.store { return store.explain() }
    var explanation = OperationExplanation(path: ShownText.of(path))
    explanation.storesBelow = runtimes.count
    return explanation
  }
}

extension OperationExplanation {
  init(path: String) {
    self.path = path
  }
}

// MARK: - What the store knows

extension StoreRuntime {
  /// The objects that add facts to the explanation.
  fileprivate var explainers: [any OperationExplaining] {
    let context = self.context
    let parts: [any Sendable] =
      context.operationControllers + context.operationExplainers
      + self.withMachine { $0.extras?.content.observers.members.map(\.observing.observer) ?? [] }
      + [context.callAnswerer, context.operationRestoration].compactMap { $0 as (any Sendable)? }
    // One object may be found in several places.
    var known: Set<ObjectIdentifier> = []
    let uniqueParts = parts.filter { part in
      type(of: part) is AnyClass ? known.insert(ObjectIdentifier(part as AnyObject)).inserted : true
    }
    return self.operation.storage.anyOperation.modifiers.compactMap { $0 as? any OperationExplaining }
      + uniqueParts.compactMap { $0 as? any OperationExplaining }
  }

  fileprivate func explanation(_ history: StoreHistory.Content) -> OperationExplanation {
    let (context, state) = (self.context, self.shownState.typed)
    let (date, elapsed) = (context.date, context.elapsed)
    var explanation = OperationExplanation(path: ShownText.of(self.path))
    explanation.operationName = self.operationName
    explanation.kind = "\(self.unmodifiedOperationType)"
    explanation.modifiers = self.operation.storage.anyOperation.modifierTexts.reversed()
    explanation.date = date
    explanation.describe(state)
    explanation.value?.origin = self.withMachine { $0.shownValueOrigin }?.text()
    explanation.isRestoring = context.operationRestoration?.isRestoring ?? false
    explanation.staleness = self.staleness
    explanation.automaticRunObstacle = self.automaticRunObstacle(in: context)
    self.withMachine { machine in
      explanation.layerCount = machine.layers.count
      explanation.layerAuthors = machine.layers.map(\.author)
      explanation.subscribers = machine.subscribers.names.map { $0?.text }
      if let poll = machine.extras?.content.nextPoll {
        explanation.plans.append(OperationExplanation.Plan(action: "polls", delay: poll - elapsed))
      }
    }
    explanation.runs = self.explainedRuns(at: date, elapsed)
    explanation.endedRuns = history.runs.reversed().map { run in
      OperationExplanation.EndedRun(cause: run.cause, end: run.end, age: .since(run.date, at: date))
    }
    explanation.notices = history.notices.reversed().map { notice in
      let (name, text) = (notice.notice.name.description, notice.notice.textWithoutOperation)
      return OperationExplanation.Notice(name: name, text: text, age: .since(notice.date, at: date))
    }
    if let end = explanation.staleness?.freshUntil {
      explanation.plans.append(OperationExplanation.Plan(action: "becomes stale", delay: .since(date, at: end)))
    }
    if let time = self.timeUntilEviction {
      explanation.plans.append(OperationExplanation.Plan(action: "is evicted", delay: time))
    }
    return explanation
  }

  /// Why the operation does not run by itself, in a sentence; nil if it does.
  private func automaticRunObstacle(in context: OperationContext) -> String? {
    if !self.allowsAutomaticRuns { return "It runs only when it is called." }
    if context.automaticRunsAreStopped { return "It does not run by itself: its client has stopped automatic runs." }
    if context.automaticRunningSpecification.isSatisfied(in: context) { return nil }
    if let specification = context.changingAutomaticRunningSpecification {
      return "It does not run by itself until \(specification.waitReason)."
    }
    return "It does not run by itself: automatic running is disabled."
  }

  private func explainedRuns(at date: Date, _ elapsed: Duration) -> [OperationExplanation.Run] {
    let (runs, invalidations, needsRerun, waits) = self.withMachine {
      ($0.runs, $0.invalidations, $0.needsRerun, $0.extras?.content.runWaits ?? [:])
    }
    let orderedWaits = waits.sorted { $0.key < $1.key }.map(\.value)
    return runs.map { run in
      let isCurrent = run.isShown && run.invalidations >= invalidations
      let waits = orderedWaits.filter { $0.run == run.task.id }
      return OperationExplanation.Run(run, waits, isCurrent: isCurrent, isFollowed: needsRerun, at: date, elapsed)
    }
  }

  /// The time until the client evicts the store; nil while the store is in use.
  private var timeUntilEviction: Duration? {
    guard let entry = self.lockedEntry, let storage = entry.client.storage else { return nil }
    return (storage.cache as? OperationClient.DefaultStoreCache)?.timeUntilEviction(of: entry)
  }
}

extension OperationClient.DefaultStoreCache {
  /// The time until the cache time of an idle store has passed; nil if the store is not idle.
  fileprivate func timeUntilEviction(of entry: StoreEntry) -> Duration? {
    let place = self.state.withLock { _ in
      entry.links.queue.map { (since: entry.links.since, cacheTime: $0.key.cacheTime, deadlines: $0.deadlines) }
    }
    return place.map { $0.since + $0.cacheTime.clampedForClock - $0.deadlines.elapsed }
  }
}

extension OperationExplanation {
  /// Describes the value and the error of a state.
  fileprivate mutating func describe(_ state: some OperationState) {
    guard let date = self.date else { return }
    let text = ShownText.typeAndSize(of: state.currentValue)
    if state.valueUpdateCount > 0 || text != nil {
      let set = state.valueUpdateCount > 0 ? state.valueLastUpdatedAt : nil
      self.value = Value(typeAndSize: text, date: set, age: set.map { .since($0, at: date) })
    }
    if let error = state.error, let set = state.errorLastUpdatedAt {
      self.failure = Failure(text: ShownText.of(error), age: .since(set, at: date))
    }
  }
}

extension OperationExplanation.Run {
  fileprivate init(
    _ run: StoreMachine.Run,
    _ waits: [RunWaitNote],
    isCurrent: Bool,
    isFollowed: Bool,
    at date: Date,
    _ elapsed: Duration
  ) {
    let context = run.task.context
    let attempts = context.run.attempts
    let attempt =
      attempts?.reported ?? (context.run.makesAttempts ? OperationAttempt(index: context.operationAttempt) : nil)
    let next = attempt?.nextBegins
    self.init(
      task: "\(run.task.id)",
      cause: context.operationRunCause ?? .call,
      age: (context.run.origin?.start?.elapsed).map { max(elapsed - $0, .zero) },
      attempt: attempt.map { next == nil ? $0.index : $0.index + 1 },
      attemptLimit: nil,
      nextAttempt: next.map { .since(date, at: $0) },
      nextAttemptReason: next == nil ? nil : attempt?.lastFailure?.reasonForDelay,
      lastFailure: attempt?.lastFailure.map { ShownText.of($0) },
      pause: attempts?.pause?.reason,
      pauseAge: attempts?.pause.map { max(elapsed - $0.start, .zero) },
      waits: run.task.sharedRun.explainedWaits(waits, at: elapsed),
      joinedCallers: max(run.task.sharedRun.withState { $0.ownerCount } - 1, 0),
      isCurrent: isCurrent,
      isFollowed: isFollowed && !isCurrent
    )
  }
}

extension SharedRun {
  /// The noted waits of the run, and calls of its work without a note.
  fileprivate func explainedWaits(_ notes: [RunWaitNote], at elapsed: Duration) -> [OperationExplanation.Wait] {
    let noted = notes.map { OperationExplanation.Wait(subject: $0.subject(), age: max(elapsed - $0.start, .zero)) }
    let called = self.calledNodes.filter { node in
      !notes.contains { note in note.path.map { $0 == node.storePath } ?? (note.isCall && node.storePath == nil) }
    }
    return noted
      + called.compactMap { node in
        node.waitName.map { name in
          let place = node.storePath.map { " at \(ShownText.of($0))" } ?? ""
          return OperationExplanation.Wait(subject: name + place, age: nil)
        }
      }
  }
}

extension OperationNotice {
  /// The name and the attributes.
  fileprivate var textWithoutOperation: String {
    ([self.name.description] + self.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
      .joined(separator: " ")
  }
}
