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
    /// The number of runs of derived queries.
    var runCount = 0
    /// The nodes whose stores have subscribers.
    var live: [ObjectIdentifier: WeakNode] = [:]
  }

  fileprivate struct WeakNode: Sendable {
    weak let node: DerivationNode?
  }

  private let content = Locked(Content())

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
    DerivationCause.withAutomatic {
      while let nodes = self.content.withLock({ $0.takeLowest() }) {
        for node in nodes { node.rerunIfOutdated() }
      }
    }
  }

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

  /// A node that waits, or whose store has subscribers and a run under way; nil if there is none.
  var unsettledNode: DerivationNode? {
    let (waiting, live) = self.content.withLock { ($0.waiting.lazy.compactMap(\.first).first, $0.live) }
    return waiting ?? live.values.lazy.compactMap(\.node).first { !$0.isSettled }
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

  /// Removes and returns the lowest nodes. Ends the processing, and returns nil, if no node waits.
  fileprivate mutating func takeLowest() -> [DerivationNode]? {
    while self.lowest < self.waiting.count, self.waiting[self.lowest].isEmpty { self.lowest += 1 }
    guard self.lowest < self.waiting.count else {
      (self.waiting, self.lowest, self.isProcessing) = ([], 0, false)
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
  package var hasUnsettledDerivations: Bool { self.derivations.unsettledNode != nil }

  /// Waits until no derived query that has subscribers is running or has to run for a change of its sources.
  ///
  /// Runs of sources for other reasons are not waited for. It returns early if the current task is cancelled.
  ///
  /// - Complexity: O(*n*) in the derived queries with subscribers, for each that it waits for.
  public func settledDerivations() async {
    while !Task.isCancelled, let node = self.derivations.unsettledNode { await node.settled() }
  }
}
