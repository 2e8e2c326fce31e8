internal import OperationCore

/// A derived query in the graph of its client: the sources of its store, and what the last run has read of them.
final class DerivationNode: Sendable {
  /// What the node uses of its store, without the type of the state.
  struct Controls: Sendable {
    let context: @Sendable () -> OperationContext
    let isLoading: @Sendable () -> Bool
    let isSettled: @Sendable () -> Bool
    let subscriberCount: @Sendable () -> Int
    /// Runs the query for the subscribers for a change of the source at a path, beginning on the current thread.
    let rerun: @Sendable (OperationPath?) -> Void
    let settled: @Sendable () async -> Void
    /// Changes what is known of the value from the second stamp to the first, if that is still the one that is meant.
    let restamp: @Sendable (ValueStamp, ValueStamp, @escaping @Sendable () -> Bool) -> Void
    /// Performs an action after the events of the store that were created before.
    let performInEventOrder: @Sendable (@escaping @Sendable () -> Void) -> Void
  }

  /// The node's subscription to a source, which it also keeps alive.
  struct Link: Sendable {
    let source: any Source
    let subscription: OperationSubscription
  }

  private struct Content: Sendable {
    /// Nil before the store is there, and after its end.
    var controls: Controls?
    var commit: DerivationCommit?
    /// Whether the client has removed the store, which its callers may still have.
    var hasEnded = false
    /// A commit of which a source was released before the node subscribed to it, and for which the query runs once.
    var incomplete: DerivationCommit?
    /// The revision at which the commit was found consistent; zero if it was not.
    var verified: UInt64 = 0
    /// That the query was found fresh; nil if it was not, or if that may not be kept.
    var fresh: FreshMark?
    /// Whether the store is about to show the outcome of a run on which no query has relied.
    var expectsChange = false
    /// The sources that have changed since the last look at all of them.
    var changed: Set<ObjectIdentifier> = []
    var links: [ObjectIdentifier: Link] = [:]
    /// Whether the store has subscribers, so that the node subscribes to its sources.
    var isLive = false
    /// The path of the source that has changed last; nil before the first change.
    var changedSource: OperationPath?
    var missedChanges = MissedChanges()
    /// Whether the query had to run for a change, and no run has replaced the commit since.
    var isOwed = false
    /// How many runs in a row have read the state of a source that reads this query, by store.
    var circles: [ObjectIdentifier: Int] = [:]
    /// The nodes that run again when the runs of this one have ended.
    var postponed: [ObjectIdentifier: DerivationNode] = [:]
  }

  /// The name of the query, for reports of cycles.
  let name: String
  let keptSources: [KeptSource]
  private let content = Locked(Content())

  init(name: String, keptSources: [KeptSource]) {
    self.name = name
    self.keptSources = keptSources
  }

  /// Begins with the controls of the store that the node belongs to.
  func begin(_ controls: Controls) {
    self.content.withLock { $0.controls = controls }
  }

  /// Lets go of everything, when the store is released, or removed from its client.
  func end() {
    let former = self.content.withLock { content in
      defer {
        content = Content()
        content.hasEnded = true
      }
      return content
    }
    for link in former.links.values { link.subscription.cancel() }
  }

  private var controls: Controls? { self.content.withLock { $0.controls } }

  private var client: OperationClient? { self.controls?.context().operationClient }

  /// What the last run has read; nil before the first.
  var commit: DerivationCommit? { self.content.withLock { $0.commit } }

  /// Whether what the last run has read is forgotten, because the client has removed the store since.
  var hasForgottenSources: Bool { self.content.withLock { $0.hasEnded && $0.commit == nil } }

  /// Replaces what the last run has read. Called with the lock of the store held.
  ///
  /// - Returns: The replaced one, for the caller to release without that lock.
  func replaceCommit(
    with commit: DerivationCommit,
    _ consistency: Consistency,
    in revision: DerivationRevision
  ) -> DerivationCommit? {
    self.content.withLock { content in
      defer { content.commit = commit }
      // If the value before was found consistent, others may have been found consistent with it.
      content.expectsChange = content.verified != revision.current
      content.verified = if case .verified(let revision) = consistency { revision } else { 0 }
      content.isOwed = false
      return content.commit
    }
  }

  /// Notes that a run has failed without a result of the body, unless a result has come since.
  ///
  /// The error is what the store shows, whatever its sources show. Without this note, a reader would run the query again
  /// in search of a value that matches them.
  ///
  /// - Parameter former: What the last run had read before the one that has failed.
  func noteRejection(since former: DerivationCommit?) {
    let rejected = DerivationCommit(
      readings: former?.readings ?? [:],
      hasFailed: true,
      height: former?.height ?? 1,
      isRejected: true
    )
    let replaced = self.content.withLock { content -> DerivationCommit? in
      guard content.commit === former else { return nil }
      content.commit = rejected
      content.verified = 0
      content.isOwed = false
      return former
    }
    _ = consume replaced  // Released after unlocking.
  }

  /// Whether the change that the store is about to show is known to those that have searched. Called with the lock of the
  /// store held, after `replaceCommit` if a run has ended.
  func takeExpectedChange() -> Bool {
    self.content.withLock { content in
      defer { content.expectsChange = false }
      return content.expectsChange
    }
  }

  /// Whether the query was found consistent at a revision.
  func isVerified(at revision: UInt64) -> Bool { self.content.withLock { $0.verified == revision } }

  /// Notes that the query was found consistent at a revision. False if another run has ended meanwhile.
  func verify(_ commit: DerivationCommit, at revision: UInt64) -> Bool {
    self.content.withLock { content in
      guard content.commit === commit else { return false }
      // Another thread may have found that at a later revision already, and others consistent with it.
      content.verified = max(content.verified, revision)
      return true
    }
  }

  /// After this number of runs in a row, reading a state in a circle counts as a cycle. Once can happen where queries read each
  /// other in turn: what the other one has read is not what it reads next.
  private static let maximumCircles = 3

  /// Notes the sources that read this query, and whose states a run has read.
  ///
  /// - Parameter sources: The stores of the sources. True stands for the store of this query itself.
  /// - Returns: Those that are no longer sources, and of these those that are to be reported.
  func noteCircles(
    _ sources: [ObjectIdentifier: Bool]
  ) -> (left: Set<ObjectIdentifier>, reported: Set<ObjectIdentifier>) {
    self.content.withLock { content in
      let former = content.circles
      var (left, reported) = (Set<ObjectIdentifier>(), Set<ObjectIdentifier>())
      content.circles = [:]
      for (id, isOwn) in sources {
        let limit = isOwn ? 1 : Self.maximumCircles
        let count = min((former[id] ?? 0) + 1, limit + 1)
        content.circles[id] = count
        if count >= limit { left.insert(id) }
        if count == limit { reported.insert(id) }
      }
      return (left, reported)
    }
  }

  /// Whether the last run has read a state in a circle.
  var hasCircles: Bool { self.content.withLock { !$0.circles.isEmpty } }

  /// Whether the store has subscribers.
  var isLive: Bool { self.content.withLock { $0.isLive } }

  /// The number of sources between the node and the furthest query that is not derived.
  var height: Int { self.commit?.height ?? 0 }

  /// Whether a source has changed or is stale, or the last run has failed.
  ///
  /// - Complexity: O(1) while nothing has changed since it was found fresh and the time alone decides on its sources;
  ///   otherwise O(*n*) in the derived queries below the node and their sources.
  var isStale: Bool {
    var mark: FreshMark?
    guard let context = self.controls?.context(), let revision = context.operationClient?.derivations.revision.current
    else { return DerivationGraph.isStale(self, isVerified: false, marking: &mark) }
    if self.content.withLock({ $0.fresh })?.holds(at: revision, in: context) == true { return false }
    if DerivationGraph.isOutdated(self, at: revision) { return true }
    // Only what was verified is sure to advance the revision with its next change.
    let isVerified = self.isVerified(at: revision)
    if isVerified { mark = FreshMark(at: revision, in: context) }
    if DerivationGraph.isStale(self, isVerified: isVerified, marking: &mark) { return true }
    if let mark {
      self.content.withLock { content, released in
        released.append(content.fresh)
        content.fresh = mark
      }
    }
    return false
  }

  func isLinked(to id: ObjectIdentifier) -> Bool { self.content.withLock { $0.links[id] != nil } }

  /// Waits until the store has no run under way.
  func settled() async { await self.controls?.settled() }

  /// Whether the store has no run under way, and all its notifications were sent.
  var isSettled: Bool { self.controls?.isSettled() ?? true }

  var isLoading: Bool { self.controls?.isLoading() ?? false }
}

// MARK: - Sources

extension DerivationNode {
  /// Subscribes to a source, if the store has subscribers and the node has not subscribed to the source already.
  func link(to source: any Source, runsIfStale: Bool = false) {
    let id = ObjectIdentifier(source)
    guard self.content.withLock({ $0.isLive && $0.links[id] == nil }) else { return }
    let link = Link(source: source, subscription: source.subscribe(self, runsIfStale: runsIfStale))
    let isKept = self.content.withLock { content in
      guard content.isLive, content.links[id] == nil else { return false }
      content.links[id] = link
      return true
    }
    if !isKept { link.subscription.cancel() }
  }

  /// Follows whether the store has subscribers: with some the node subscribes to its sources, without it leaves them.
  func followActivity() {
    // The sources then follow their activity: with one call inside the other, a long chain would overflow the stack.
    CancellationTrampoline.perform { self.follow() }
  }

  private func follow() {
    while let controls = self.controls {
      let isLive = controls.subscriberCount() > 0
      let (hasBegun, links) = self.content.withLock { content in
        guard content.isLive != isLive else { return (false, [ObjectIdentifier: Link]()) }
        content.isLive = isLive
        defer { content.links = [:] }
        return (isLive, content.links)
      }
      for link in links.values { link.subscription.cancel() }
      let client = controls.context().operationClient
      client?.derivations.noteActivity(of: self)
      if hasBegun, let client {
        self.linkToSources(in: client)
        self.lookAtMissedChanges(controls, in: client)
      }
      // The last subscriber may have left meanwhile, or the first have come.
      if (controls.subscriberCount() > 0) == isLive { return }
    }
  }

  /// Looks at changes of which another thread was notified while this one went from one subscriber to the next.
  ///
  /// That thread has not looked itself, and a subscription that it was making at that moment is kept: it notifies the node of
  /// nothing more.
  private func lookAtMissedChanges(_ controls: Controls, in client: OperationClient) {
    guard self.content.withLock({ $0.missedChanges.take() }) else { return }
    client.derivations.add([self], controls.performInEventOrder)
  }

  private func linkToSources(in client: OperationClient) {
    for kept in self.keptSources {
      let source = kept.store(client)
      source.observe(for: client.derivations.revision)
      self.link(to: source, runsIfStale: true)
    }
    guard let commit, let controls else { return }
    var outdated: [DerivationNode] = []
    var isIncomplete = false
    for reading in commit.readings.values {
      guard let source = reading.source else {
        isIncomplete = true
        continue
      }
      self.link(to: source, runsIfStale: reading.isOfState)
      // The run in which the source has followed a change may have ended with its last subscriber before this one, and the
      // notification of that change is over.
      if !reading.isOfState, let node = source.derivationNode,
        DerivationGraph.isOutdated(node, at: client.derivations.revision.current)
      {
        outdated.append(node)
      }
    }
    // The end of a source that was released before the node subscribed to it is not notified.
    if isIncomplete, self.noteIncomplete(commit) { outdated.append(self) }
    if !outdated.isEmpty { client.derivations.add(outdated, controls.performInEventOrder) }
  }

  /// Notes that a source of a commit was released. False if that was known: a run that fails leaves the commit as it is.
  private func noteIncomplete(_ commit: DerivationCommit) -> Bool {
    self.content.withLock { content, released in
      if content.incomplete === commit { return false }
      released.append(content.incomplete)
      content.incomplete = commit
      return true
    }
  }

  /// Leaves the sources that the last run has not read, and subscribes to those that it has read before the store had
  /// subscribers. Called when no run is under way.
  func runsHaveEnded() {
    guard let client = self.client else { return }
    if !self.isLinkedToSources { self.renewLinks(in: client) }
    let (hasMissedChange, postponed) = self.content.withLock { content in
      defer { content.postponed = [:] }
      return (content.missedChanges.take(), content.postponed)
    }
    let nodes = (hasMissedChange ? [self] : []) + postponed.values
    if !nodes.isEmpty, let controls = self.controls { client.derivations.add(nodes, controls.performInEventOrder) }
  }
}

extension DerivationNode {
  /// Whether the node has subscribed to what the last run has read, and to nothing else.
  private var isLinkedToSources: Bool {
    if !self.keptSources.isEmpty { return false }
    return self.content.withLock { content in
      guard content.isLive, let read = content.commit?.readings, read.count == content.links.count else { return false }
      return read.keys.allSatisfy { content.links[$0] != nil }
    }
  }

  private func renewLinks(in client: OperationClient) {
    // Each notifies the node of the state that it has.
    if self.isLive { self.linkToSources(in: client) }
    let kept = self.keptSources.isEmpty ? [] : Set(self.keptSources.map { ObjectIdentifier($0.store(client)) })
    let left = self.content.withLock { content in
      let read = content.commit?.readings
      let left = content.links.filter { read?[$0.key] == nil && !kept.contains($0.key) }
      for id in left.keys { content.links[id] = nil }
      return left
    }
    for link in left.values { link.subscription.cancel() }
  }
}

// MARK: - Changes

extension DerivationNode {
  /// Runs the query again if the value of a source has changed, after all handlers of that change.
  func sourceHasChanged(_ source: any Source) {
    guard let controls = self.controls, let client = controls.context().operationClient else { return }
    // What a run under way has read is not in the commit yet: `rerunIfOutdated` looks again at its end. And if a run for an
    // earlier change was cancelled, the others are compared as well.
    let (commit, isOwed) = self.content.withLock { ($0.commit, $0.isOwed) }
    if !controls.isLoading(), !isOwed, let commit, let reading = commit.readings[ObjectIdentifier(source)],
      reading.isCurrent(), source.isInClient
    {
      return self.restamp(controls, commit, after: [reading])
    }
    let path = source.path
    self.content.withLock { content, released in
      released.append(content.changedSource)
      content.changedSource = path
      content.changed.insert(ObjectIdentifier(source))
    }
    client.derivations.add([self]) { source.performInEventOrder($0) }
  }

  /// Runs the query again for the subscribers if a value that it has read has changed, unless a run is under way.
  func rerunIfOutdated() {
    guard let controls = self.controls else { return }
    let change = self.content.withLock { $0.missedChanges.note() }
    // If the store gets subscribers now, `follow` finds the missed change.
    if !self.isLive { return }
    // If the run ends now, `runsHaveEnded` finds the missed change.
    if controls.isLoading() { return }
    let changed = self.content.withLock { content in
      defer { content.changed = [] }
      content.missedChanges.forget(change)
      return content.changed
    }
    if let commit = self.commit, commit.isCurrent(changed: changed) {
      self.content.withLock { $0.isOwed = false }
      return self.restamp(controls, commit, after: changed.compactMap { commit.readings[$0] })
    }
    self.content.withLock { $0.isOwed = true }
    // Their values would have to be waited for. Without runs there is nothing to search for.
    if let client = controls.context().operationClient, client.derivations.hasRuns, self.isPostponed { return }
    controls.rerun(self.content.withLock { $0.changedSource })
  }

  /// Changes what sources say of the value, not what a fallback inside says, after they changed without another value.
  private func restamp(_ controls: Controls, _ commit: DerivationCommit, after readings: [any Reading]) {
    for reading in readings {
      guard let (former, new) = commit.takeNewStamp(after: reading) else { continue }
      controls.restamp(new, former) { [weak self] in self?.commit === commit }
    }
  }

  /// Whether a derived query below this one runs, so that this one runs when that has ended.
  private var isPostponed: Bool {
    while let node = DerivationGraph.runningNode(below: self) {
      node.content.withLock { $0.postponed[ObjectIdentifier(self)] = self }
      if node.isLoading { return true }
      // If `runsHaveEnded` was called meanwhile, it has taken this node or not.
      guard node.content.withLock({ $0.postponed.removeValue(forKey: ObjectIdentifier(self)) }) != nil else {
        return true
      }
    }
    return false
  }
}

extension OperationContext {
  /// The node of the store, if its operation is derived.
  var derivationNode: DerivationNode? {
    get { self[DerivationNodeKey.self] }
    set { self[DerivationNodeKey.self] = newValue }
  }

  private enum DerivationNodeKey: Key {
    static let defaultValue: DerivationNode? = nil
  }
}
