internal import OperationCore

/// One call of the body of a derived query, which notes what it reads.
final class Evaluation: Sendable {
  private struct Content: Sendable {
    /// The first reading of each source, by store.
    var readings: [ObjectIdentifier: any Reading] = [:]
    var cycles: [OperationCycleError] = []
    /// The names of the queries through which the query reads its own state.
    var circles: [[String]] = []
    /// The store of the query itself, if the body has read its state.
    var ownStore: ObjectIdentifier?
    var hasFailedSource = false
    /// Whether a source has changed while it was read, or between two reads.
    var isMixed = false
    var hasEnded = false
    /// The height of the highest source.
    var height = 0
    /// Whether each source was known to be consistent at the revision of the beginning when it was read.
    var isVerifiable = true
  }

  let node: DerivationNode
  private let cause: DerivationCause
  /// Whether the run was made because a source has changed, or because the store was invalidated.
  private let isAutomatic: Bool
  private let revision: DerivationRevision
  /// The revision when the call has begun.
  private let firstRevision: UInt64
  private let content = Locked(Content())

  init(of node: DerivationNode, for cause: DerivationCause, isAutomatic: Bool, in revision: DerivationRevision) {
    self.node = node
    self.cause = cause
    self.isAutomatic = isAutomatic
    self.revision = revision
    self.firstRevision = revision.current
  }
}

// MARK: - Reading

extension Evaluation {
  /// What a call has read: the value or the error of the state, and the outcome of the run that it has waited for.
  struct ReadValue<State: OperationState & Sendable> {
    let value: Result<State.StateValue, State.Failure>
    let outcome: Result<State.OperationValue, State.Failure>?
  }

  /// Reads the value of a store, which becomes a source, after a run if that is due. The context comes from the reader.
  nonisolated(nonsending) func read<State>(
    _ source: FoundStore<State>,
    selecting selection: Selection<State.StateValue>? = nil,
    in context: OperationContext
  ) async -> ReadValue<State> {
    let store = source.store
    guard self.tracks(source) else { return await self.readUntracked(store) }
    // Read once: the context of the store may be replaced during the wait.
    let awaited = store.derivationNode
    let isKept = self.begin(store)
    if !store.hasResult { await store.restored() }
    let invalidation = store.lastInvalidation
    var outcome: Result<State.OperationValue, State.Failure>?
    var (stamp, isCancelled) = (StoreStamp?.none, false)
    if self.needsRun(store, awaited, isKept: isKept) {
      stamp = store.stateAndStamp.stamp
      if let awaited, let cycle = self.beginWaiting(for: awaited) { return self.resultOfCycle(cycle, in: store) }
      let (former, refresh) = (awaited?.commit, DerivationRefresh(of: store))
      self.cause.noteBegin(of: refresh)
      let path = store.path
      let wait = context.beginWait(for: { "its source \(ShownText.of(path))" }, at: path)
      outcome = await store.runOrJoin(.refresh)
      context.endWait(wait)
      if case .failure(let error)? = outcome { isCancelled = error is CancellationError }
      if !isCancelled { self.cause.noteEnd(of: refresh) }
      if let awaited {
        DerivationWaits.end(self.node, for: awaited)
        if case .failure? = outcome, !isCancelled { awaited.noteRejection(since: former) }
      }
    }
    // Before the value is read: from then on another value advances the revision.
    let isVerified = awaited.map { $0.isVerified(at: self.firstRevision) } ?? true
    let reading = StoreReading(of: store, invalidation: invalidation, isOfState: false, selecting: selection)
    var value = reading.value
    if case .failure(let error)? = outcome {
      // A value that was set since is what the store shows now. A cancelled run leaves the state as it was.
      if !value.isFailure, !isCancelled { self.content.withLock { $0.isMixed = true } }
      value = .failure(error)
    }
    // Its value was taken away again, so the source has to run. What its run has returned is shown nowhere.
    if store.allowsAutomaticRuns, reading.wasReset(since: stamp) { self.content.withLock { $0.isMixed = true } }
    self.add(reading, hasFailed: value.isFailure, height: awaited?.height ?? 0, isVerified: isVerified, in: context)
    return ReadValue(value: value, outcome: outcome)
  }

  /// Reads the state of a store, which becomes a source, and waits for nothing. The context comes from the reader.
  func state<State>(of source: FoundStore<State>, in context: OperationContext) -> State {
    let store = source.store
    guard self.tracks(source) else { return store.state }
    if store.derivationNode === self.node {
      // It would run again for the beginning and the end of each of its runs.
      self.content.withLock { $0.ownStore = ObjectIdentifier(store) }
      return store.state
    }
    self.begin(store, runsIfStale: true)
    let reading = StoreReading(of: store, invalidation: store.lastInvalidation, isOfState: true)
    self.add(reading, hasFailed: false, height: store.derivationNode?.height ?? 0, isVerified: false, in: context)
    return reading.readState
  }

  /// Whether what is read of a store is noted. If the store has left the client since it was found, the body is called again,
  /// and finds the store that is there then.
  private func tracks<State>(_ source: FoundStore<State>) -> Bool {
    if self.hasEnded { return false }
    let isInClient = source.store.isInClient
    if !isInClient, source.wasInClient { self.content.withLock { $0.isMixed = true } }
    return isInClient
  }

  private nonisolated(nonsending) func readUntracked<State>(_ store: OperationStore<State>) async -> ReadValue<State> {
    if !store.hasResult { await store.restored() }
    let isDue = store.allowsAutomaticRuns && (store.isStale || !store.hasResult)
    let outcome = isDue ? await store.runOrJoin() : nil
    if case .failure(let error)? = outcome { return ReadValue(value: .failure(error), outcome: outcome) }
    return ReadValue(value: .success(store.currentValue), outcome: outcome)
  }

  /// Begins to read a source. Returns whether the node had subscribed to it before.
  @discardableResult
  private func begin(_ source: any Source, runsIfStale: Bool = false) -> Bool {
    self.cause.keep(source)
    if self.node.isLinked(to: ObjectIdentifier(source)) { return true }
    source.observe(for: self.revision)
    self.node.link(to: source, runsIfStale: runsIfStale)
    return false
  }

  /// Whether a source has to run before its value is read.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - node: The node of the source if it is derived.
  ///   - isKept: Whether the node had subscribed to the source before.
  /// - Returns: Whether a run is due, or under way and waited for.
  private func needsRun(_ source: any Source, _ node: DerivationNode?, isKept: Bool) -> Bool {
    if !source.allowsAutomaticRuns { return false }
    if !source.hasResult { return true }
    if let node, DerivationGraph.isOutdated(node, at: self.revision.current) { return true }
    if source.isInvalidated { return !self.cause.hasRefreshed(source) || source.isRefreshing }
    if self.isAutomatic {
      if node != nil || source.hasFailed { return source.isRefreshing }
      // The source runs by itself when it has to. Without rules its value is always stale: only a run under way tells.
      if isKept, !source.hasStalenessRules, !source.hasFreshPeriodOfRun { return source.isRefreshing }
    }
    guard source.isStale || source.hasFailed else { return false }
    return !self.cause.hasRefreshed(source) || source.isRefreshing
  }

  private func add(
    _ reading: any Reading,
    hasFailed: Bool,
    height: Int,
    isVerified: Bool,
    in context: OperationContext
  ) {
    // At once, because the body may yield next.
    context.combineOutcomeStamp(with: reading.valueStamp)
    let former = self.content.withLock { content -> (any Reading)? in
      if hasFailed { content.hasFailedSource = true }
      if !isVerified { content.isVerifiable = false }
      content.height = max(content.height, height)
      guard let former = content.readings[reading.storeID] else {
        content.readings[reading.storeID] = reading
        return nil
      }
      content.readings[reading.storeID] = reading.combined(with: former)
      return former
    }
    if let former, !former.isCurrent() { self.content.withLock { $0.isMixed = true } }
  }
}

// MARK: - Cycles

extension Evaluation {
  /// Notes that the run waits for a source. Returns the cycle if the source waits for the run.
  private func beginWaiting(for awaited: DerivationNode) -> OperationCycleError? {
    guard let names = DerivationWaits.begin(self.node, for: awaited) else { return nil }
    let cycle = OperationCycleError(operationNames: names)
    self.content.withLock { content in
      content.cycles.append(cycle)
      content.hasFailedSource = true
    }
    return cycle
  }

  /// Lets go of the sources whose states were read although they read this query, if that goes on from run to run: it waits for
  /// nothing, so each run would be the cause of the next without end.
  func leaveCircles() {
    let (readings, ownStore) = self.content.withLock { ($0.readings, $0.ownStore) }
    var sources: [ObjectIdentifier: [DerivationNode]] = [:]
    if let ownStore { sources[ownStore] = [self.node] }
    var states: [ObjectIdentifier: (id: ObjectIdentifier, node: DerivationNode)] = [:]
    for (id, reading) in readings where reading.isOfState {
      if let node = reading.source?.derivationNode { states[ObjectIdentifier(node)] = (id, node) }
    }
    while !states.isEmpty, let path = DerivationGraph.path(from: states.values.map(\.node), to: self.node),
      let state = path.first.flatMap({ states.removeValue(forKey: ObjectIdentifier($0)) })
    {
      sources[state.id] = path
    }
    if sources.isEmpty, !self.node.hasCircles { return }
    let (left, reported) = self.node.noteCircles(
      Dictionary(uniqueKeysWithValues: sources.keys.map { ($0, $0 == ownStore) })
    )
    let circles = reported.compactMap { sources[$0] }.map { ([self.node] + $0).map(\.name) }
    if left.isEmpty { return }
    let height = readings.reduce(0) { height, reading in
      left.contains(reading.key) ? height : max(height, reading.value.source?.derivationNode?.height ?? 0)
    }
    let released = self.content.withLock { content in
      content.circles = circles
      content.height = height
      return left.compactMap { content.readings.removeValue(forKey: $0) }
    }
    _ = consume released  // Released after unlocking.
  }

  private func resultOfCycle<State>(_ cycle: OperationCycleError, in store: OperationStore<State>) -> ReadValue<State> {
    if let failure = cycle as? State.Failure { return ReadValue(value: .failure(failure), outcome: nil) }
    precondition(
      store.hasResult,
      "\(cycle) The failure type \(State.Failure.self) cannot represent OperationCycleError, and there is no value."
    )
    return ReadValue(value: .success(store.currentValue), outcome: nil)
  }
}

// MARK: - The end

extension Evaluation {
  private var hasEnded: Bool { self.content.withLock { $0.hasEnded } }

  /// Ends the evaluation: what is read later is not noted.
  func end() {
    self.content.withLock { $0.hasEnded = true }
  }

  /// Whether all sources still show what was read, and none of them has to run again.
  var consistency: Consistency {
    let (readings, isMixed, isVerifiable) = self.content.withLock { ($0.readings, $0.isMixed, $0.isVerifiable) }
    if isMixed { return .outdated }
    let revision = self.revision.current
    if isVerifiable, revision == self.firstRevision { return .verified(revision) }
    return ConsistencySearch(of: readings, at: revision).result()
  }

  /// Whether a source has failed.
  var hasFailedSource: Bool { self.content.withLock { $0.hasFailedSource } }

  /// What was read, for a run that has ended with a value or an error.
  func commit(hasFailed: Bool) -> DerivationCommit {
    let (readings, height) = self.content.withLock { ($0.readings, $0.height) }
    return DerivationCommit(readings: readings, hasFailed: hasFailed, height: 1 + height)
  }

  /// Reports the cycles that were found.
  func reportCycles() {
    let (cycles, circles) = self.content.withLock { ($0.cycles, $0.circles) }
    for cycle in cycles { cycle.report() }
    for names in circles {
      OperationWarning(
        code: .taskCycle,
        message: """
          \(self.node.name) reads a state that is made of its own: \(names.joined(separator: " → ")). Each run would be the \
          cause of the next, so a change of that state is none. A derived query must not read its own state.
          """
      ).report()
    }
  }
}

extension Result {
  fileprivate var isFailure: Bool {
    if case .failure = self { true } else { false }
  }
}

extension OperationContext {
  /// The evaluation that notes what is read with this context.
  var evaluation: Evaluation? {
    get { self[EvaluationKey.self] }
    set { self[EvaluationKey.self] = newValue }
  }

  private enum EvaluationKey: Key {
    static let defaultValue: Evaluation? = nil
  }
}
