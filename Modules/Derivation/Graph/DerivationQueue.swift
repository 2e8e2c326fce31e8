public import OperationCore
internal import OperationPlatform

/// The derived queries of a client whose sources have changed, which run again.
///
/// Each thread that changes a source runs what it has touched, one after the other, and waits for no other thread. A query
/// runs after those that it reads: the nodes are ordered by their heights. Where the queries of two threads overlap, a
/// query that runs already runs once more after that, if it has read what was before.
final class DerivationQueue: Sendable {
  fileprivate struct Content: Sendable {
    /// The nodes of threads that have changed a source, whose handlers are called first, by thread.
    var added: [UInt: Heap] = [:]
    /// The nodes of threads that run theirs, by thread.
    var processed: [UInt: Heap] = [:]
    /// Those who wait until no node waits.
    var waiters: [UnsafeContinuation<Void, Never>] = []
    /// How often nodes were added.
    var additions = 0
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
    let thread = CurrentThread.identifier
    let isProcessing = self.content.withLock { $0.add(nodes, heights, on: thread) }
    // A thread that runs its nodes comes to these, too. Inside of each other, the runs of a long chain would fill the stack.
    if isProcessing { return }
    performInOrder { self.process(addedOn: thread) }
  }

  /// Runs the nodes that a thread has added, and those that this thread adds meanwhile, unless it is doing so.
  private func process(addedOn adder: UInt) {
    let thread = CurrentThread.identifier
    guard self.content.withLock({ $0.beginProcessing(addedOn: adder, on: thread) }) else { return }
    var waiters: [UnsafeContinuation<Void, Never>] = []
    let scope = ThreadScope()
    DerivationCause.withAutomatic {
      while let nodes = self.content.withLock({ $0.takeLowest(on: thread, orEndFor: &waiters) }) {
        for node in nodes { node.rerunIfOutdated() }
      }
    }
    scope.end()
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until no node waits or is being run again. Returns how often nodes were added until then.
  ///
  /// A thread that has added some runs them before it returns from its change, so nothing is polled, and a cancellation need
  /// not end the wait.
  nonisolated(nonsending) func becomesIdle() async -> Int {
    while true {
      // Without a wait there is nothing to suspend for.
      let additions = self.content.withLock { $0.isIdle ? $0.additions : nil }
      if let additions { return additions }
      await self.waitUntilIdle()
    }
  }

  private nonisolated(nonsending) func waitUntilIdle() async {
    await withUnsafeContinuation { waiter in
      let isIdle = self.content.withLock { content in
        if content.isIdle { return true }
        content.waiters.append(waiter)
        return false
      }
      if isIdle { waiter.resume() }
    }
  }

  /// Whether no node waits, is being run again, or was added since a number of them were.
  func isIdle(since additions: Int) -> Bool { self.content.withLock { $0.isIdle && $0.additions == additions } }

  /// Whether no node waits or is being run again, and no store with subscribers has a run under way.
  var isSettled: Bool {
    let additions = self.content.withLock { $0.isIdle ? $0.additions : nil }
    guard let additions, self.runningNode == nil else { return false }
    return self.isIdle(since: additions)
  }

  /// Notes that a derived query runs.
  func beginRun() { self.content.withLock { $0.runCount += 1 } }

  func endRun() { self.content.withLock { $0.runCount -= 1 } }

  /// Whether a derived query runs.
  var hasRuns: Bool { self.content.withLock { $0.runCount > 0 } }

  /// Notes whether the store of a node has subscribers.
  func noteActivity(of node: DerivationNode) {
    let former = self.content.withLock { content in
      // Asked with the lock held: of two threads that note it, the last one notes what is so.
      defer { content.live[ObjectIdentifier(node)] = node.isLive ? WeakNode(node: node) : nil }
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

extension DerivationQueue {
  /// The nodes of one thread that wait, by height.
  fileprivate struct Heap: Sendable {
    private var waiting: [[DerivationNode]] = []
    private var members: Set<ObjectIdentifier> = []
    /// No node that waits is lower.
    private var lowest = 0

    mutating func add(_ node: DerivationNode, _ height: Int) {
      guard self.members.insert(ObjectIdentifier(node)).inserted else { return }
      while self.waiting.count <= height { self.waiting.append([]) }
      self.waiting[height].append(node)
      self.lowest = min(self.lowest, height)
    }

    mutating func add(_ other: Heap) {
      for (height, nodes) in other.waiting.enumerated() {
        for node in nodes { self.add(node, height) }
      }
    }

    /// Removes and returns the lowest nodes; nil if none waits.
    mutating func takeLowest() -> [DerivationNode]? {
      while self.lowest < self.waiting.count, self.waiting[self.lowest].isEmpty { self.lowest += 1 }
      guard self.lowest < self.waiting.count else { return nil }
      let nodes = self.waiting[self.lowest]
      self.waiting[self.lowest] = []
      for node in nodes { self.members.remove(ObjectIdentifier(node)) }
      return nodes
    }
  }
}

extension DerivationQueue.Content {
  /// Adds nodes for a thread. Returns whether the thread runs its nodes, so that it comes to these.
  fileprivate mutating func add(_ nodes: [DerivationNode], _ heights: [Int], on thread: UInt) -> Bool {
    let isProcessing = self.processed[thread] != nil
    self.additions += 1
    for (node, height) in zip(nodes, heights) {
      if isProcessing {
        self.processed[thread]?.add(node, height)
      } else {
        self.added[thread, default: DerivationQueue.Heap()].add(node, height)
      }
    }
    return isProcessing
  }

  /// Hands the nodes that one thread has added to another, usually to itself. Returns whether that has to begin to run them.
  fileprivate mutating func beginProcessing(addedOn adder: UInt, on thread: UInt) -> Bool {
    guard let added = self.added.removeValue(forKey: adder) else { return false }
    if self.processed[thread] != nil {
      self.processed[thread]?.add(added)
      return false
    }
    self.processed[thread] = added
    return true
  }

  fileprivate var isIdle: Bool { self.added.isEmpty && self.processed.isEmpty }

  /// Removes and returns the lowest nodes of a thread. If none waits, ends the processing, and returns nil.
  ///
  /// - Parameters:
  ///   - thread: The thread.
  ///   - waiters: Receives those who have waited for the end.
  /// - Returns: The nodes.
  fileprivate mutating func takeLowest(
    on thread: UInt,
    orEndFor waiters: inout [UnsafeContinuation<Void, Never>]
  ) -> [DerivationNode]? {
    if let nodes = self.processed[thread]?.takeLowest() { return nodes }
    self.processed[thread] = nil
    if self.isIdle { swap(&waiters, &self.waiters) }
    return nil
  }
}

extension OperationClient {
  /// The derived queries of the client whose sources have changed.
  var derivations: DerivationQueue { self.attachment { DerivationQueue() } }

  /// Whether a derived query that has subscribers is running or has to run for a change of its sources.
  package var hasUnsettledDerivations: Bool { self.attachment(of: DerivationQueue.self)?.isSettled == false }

  /// Waits until no derived query that has subscribers is running or has to run for a change of its sources.
  ///
  /// Runs of sources for other reasons are not waited for. It returns early if the current task is cancelled. With nothing to wait
  /// for it returns without a suspension: it makes no task, leaves no actor, and allocates nothing.
  ///
  /// - Complexity: O(*n*) in the derived queries with subscribers, for each that it waits for, and once more.
  public nonisolated(nonsending) func settledDerivations() async {
    guard let queue = self.attachment(of: DerivationQueue.self) else { return }
    while !Task.isCancelled {
      let additions = await queue.becomesIdle()
      if let node = queue.runningNode {
        await node.settled()
      } else if queue.isIdle(since: additions) {
        return
      }
      // Otherwise the nodes are asked again. They are asked one after the other, so the end of one that is asked late can make
      // one run that was asked before.
    }
  }
}
