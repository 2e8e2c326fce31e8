extension OperationClient: OperationWaitGraphSource {
  /// The runs that are under way in the stores of the client, and what they wait for: each other, conditions, permits.
  ///
  /// A wait for the run of another store is known if the callers of that store share its runs. Other such waits are
  /// known only while somebody reads ``events`` or has asked a store for an explanation.
  ///
  /// - Parameter limit: The greatest number of nodes. Runs that wait come first.
  /// - Returns: The graph, which contains no value of an operation.
  /// - Complexity: O(*n*) in the stores.
  public func waitGraph(limit: Int) -> OperationWaitGraph {
    let runs = self.storage.runtimes(matching: []).flatMap(\.waitingRuns)
    let ordered = runs.filter(\.isWaiting) + runs.filter { !$0.isWaiting }
    var builder = OperationWaitGraph.Builder(limit: limit)
    for run in ordered.prefix(limit) { builder.add(run) }
    let added = ordered.filter { builder.operation($0.run) != nil }
    let byPath = Dictionary(grouping: added, by: \.path)
    for run in added { builder.addWaits(of: run, byPath) }
    let summary = ShownText.count(runs.count, "run")
    return builder.graph(named: "The stores", summary, leftOut: runs.count - added.count)
  }
}

/// A run under way, for a graph.
private struct WaitingStoreRun {
  let run: SharedRun
  let name: String
  let path: OperationPath
  /// The condition that it waits for.
  let pause: String?
  let notes: [RunWaitNote]
  /// The runs of other operations that its work calls, and batches.
  let called: [any WaitNode]

  var isWaiting: Bool { self.pause != nil || !self.notes.isEmpty || !self.called.isEmpty }

  var state: String { self.pause == nil ? "runs" : "is paused" }
}

extension StoreRuntime {
  fileprivate var waitingRuns: [WaitingStoreRun] {
    let (runs, notes) = self.withMachine { ($0.runs, $0.extras?.content.runWaits ?? [:]) }
    if runs.isEmpty { return [] }
    let name = self.operationName
    return runs.map { run in
      WaitingStoreRun(
        run: run.task.sharedRun,
        name: name,
        path: self.path,
        pause: run.task.context.run.attempts?.pause?.reason,
        notes: notes.sorted { $0.key < $1.key }.map(\.value).filter { $0.run == run.task.id },
        called: run.task.sharedRun.calledNodes
      )
    }
  }
}

extension OperationWaitGraph.Builder {
  fileprivate mutating func add(_ run: WaitingStoreRun) {
    self.addOperation(run.run, run.name, run.state, at: run.path)
  }

  fileprivate mutating func addWaits(of run: WaitingStoreRun, _ byPath: [OperationPath: [WaitingStoreRun]]) {
    let number = self.operation(run.run)
    if let pause = run.pause { self.addWait(of: number, for: self.addResource(pause)) }
    for note in run.notes {
      // A batch gets a node of its own below.
      if note.isCall, note.path == nil, run.called.contains(where: { $0.storePath == nil }) { continue }
      let targets = note.path.flatMap { byPath[$0] } ?? []
      if targets.isEmpty { self.addWait(of: number, for: self.addResource(note.subject())) }
      for target in targets { self.addWait(of: number, for: self.operation(target.run)) }
    }
    for node in run.called where !run.notes.contains(where: { $0.path != nil && $0.path == node.storePath }) {
      self.addWait(of: number, for: self.addOperation(node, node.waitName ?? "a run", "runs", at: node.storePath))
    }
  }
}

extension SharedRun {
  /// The runs of other operations and the batches that the work of the run has called and that have not ended.
  var calledNodes: [any WaitNode] {
    var (found, left): ([any WaitNode], [any WaitNode]) = ([], [self])
    var known: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    while let node = left.popLast() {
      for edge in node.waits where edge.isCall && known.insert(ObjectIdentifier(edge.node)).inserted {
        if let run = edge.node as? SharedRun {
          guard !run.hasOutcome else { continue }
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

  private var hasOutcome: Bool { self.finishedOutcome != nil }
}

extension WaitNode {
  /// The path of the store that the run of the node belongs to; nil for another node.
  var storePath: OperationPath? {
    (self as? SharedRun)?.withState { $0.delegate as? StoreRuntime }?.path
  }
}
