public import OperationCore

/// The derived queries of a client whose sources have changed, which run again one after the other.
///
/// A query runs after those that it reads: the nodes are ordered by their heights.
final class DerivationQueue: Sendable {
  fileprivate struct Content: Sendable {
    /// The nodes that wait, by height.
    var waiting: [[DerivationNode]] = []
    var members: Set<ObjectIdentifier> = []
    /// No node that waits is lower.
    var lowest = 0
    var isProcessing = false
    /// Those who wait until no node waits.
    var waiters: [UnsafeContinuation<Void, Never>] = []
    /// The number of runs of derived queries.
    var runCount = 0
    /// The nodes whose stores have subscribers.
    var live: [ObjectIdentifier: WeakNode] = [:]
  }

  fileprivate struct WeakNode: Sendable {
    weak let node: DerivationNode?
  }

  private let content = Locked(Content())

  /// The changes of what the derived queries read.
  let revision = DerivationRevision()

  init() {}

  /// Adds nodes, and runs them.
  ///
  /// - Parameters:
  ///   - nodes: The nodes.
  ///   - performInOrder: Performs its argument after the handlers of the event that has changed a source.
  func add(_ nodes: [DerivationNode], _ performInOrder: (@escaping @Sendable () -> Void) -> Void) {
    let heights = nodes.map(\.height)
    self.content.withLock { content in
      for (node, height) in zip(nodes, heights) { content.add(node, height) }
    }
    performInOrder { self.process() }
  }

  /// Runs the nodes that wait, and those that are added meanwhile, unless a caller is doing so.
  private func process() {
    guard self.content.withLock({ $0.beginProcessing() }) else { return }
    var waiters: [UnsafeContinuation<Void, Never>] = []
    DerivationCause.withAutomatic {
      while let nodes = self.content.withLock({ $0.takeLowest(orEndFor: &waiters) }) {
        for node in nodes { node.rerunIfOutdated() }
      }
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until no node waits or is being run again.
  ///
  /// The thread that has added the last one does that before it returns from its change, so nothing is polled, and a
  /// cancellation need not end the wait.
  func becomesIdle() async {
    await withUnsafeContinuation { waiter in
      let isIdle = self.content.withLock { content in
        if content.isIdle { return true }
        content.waiters.append(waiter)
        return false
      }
      if isIdle { waiter.resume() }
    }
  }

  /// Whether no node waits or is being run again.
  var isIdle: Bool { self.content.withLock { $0.isIdle } }

  /// Notes that a derived query runs.
  func beginRun() { self.content.withLock { $0.runCount += 1 } }

  func endRun() { self.content.withLock { $0.runCount -= 1 } }

  /// Whether a derived query runs.
  var hasRuns: Bool { self.content.withLock { $0.runCount > 0 } }

  /// Notes whether the store of a node has subscribers.
  func note(_ node: DerivationNode, isLive: Bool) {
    let former = self.content.withLock { content in
      defer { content.live[ObjectIdentifier(node)] = isLive ? WeakNode(node: node) : nil }
      return content.live[ObjectIdentifier(node)]
    }
    _ = consume former  // Released after unlocking.
  }

  /// A node whose store has subscribers and a run under way; nil if there is none.
  var runningNode: DerivationNode? {
    let live = self.content.withLock { $0.live }
    return live.values.lazy.compactMap(\.node).first { !$0.isSettled }
  }
}

extension DerivationQueue.Content {
  fileprivate mutating func add(_ node: DerivationNode, _ height: Int) {
    guard self.members.insert(ObjectIdentifier(node)).inserted else { return }
    while self.waiting.count <= height { self.waiting.append([]) }
    self.waiting[height].append(node)
    self.lowest = min(self.lowest, height)
  }

  fileprivate mutating func beginProcessing() -> Bool {
    if self.isProcessing { return false }
    self.isProcessing = true
    return true
  }

  fileprivate var isIdle: Bool { !self.isProcessing && self.members.isEmpty }

  /// Removes and returns the lowest nodes. If no node waits, ends the processing, and returns nil.
  ///
  /// - Parameter waiters: Receives those who have waited for the end.
  /// - Returns: The nodes.
  fileprivate mutating func takeLowest(orEndFor waiters: inout [UnsafeContinuation<Void, Never>]) -> [DerivationNode]? {
    while self.lowest < self.waiting.count, self.waiting[self.lowest].isEmpty { self.lowest += 1 }
    guard self.lowest < self.waiting.count else {
      (self.waiting, self.lowest, self.isProcessing) = ([], 0, false)
      swap(&waiters, &self.waiters)
      return nil
    }
    let nodes = self.waiting[self.lowest]
    self.waiting[self.lowest] = []
    for node in nodes { self.members.remove(ObjectIdentifier(node)) }
    return nodes
  }
}

extension OperationClient {
  /// The derived queries of the client whose sources have changed.
  var derivations: DerivationQueue { self.attachment { DerivationQueue() } }

  /// Whether a derived query that has subscribers is running or has to run for a change of its sources.
  package var hasUnsettledDerivations: Bool { !self.derivations.isIdle || self.derivations.runningNode != nil }

  /// Waits until no derived query that has subscribers is running or has to run for a change of its sources.
  ///
  /// Runs of sources for other reasons are not waited for. It returns early if the current task is cancelled.
  ///
  /// - Complexity: O(*n*) in the derived queries with subscribers, for each that it waits for.
  public func settledDerivations() async {
    let queue = self.derivations
    while !Task.isCancelled {
      await queue.becomesIdle()
      guard let node = queue.runningNode else { return }
      await node.settled()
    }
  }
}
