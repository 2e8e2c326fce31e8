public import OperationCore

extension OperationClient: OperationWaitGraphSource {
  /// The runs that are under way in the stores of the client, and what they wait for: each other, conditions, permits.
  ///
  /// A wait for the run of another store is known if the callers of that store share its runs. Other such waits are
  /// known only of stores whose waits are observed: while ``OperationCore/OperationClient/events`` are read, and after
  /// an explanation.
  ///
  /// - Parameter limit: The greatest number of nodes. Runs that wait come first.
  /// - Returns: The graph, which contains no value of an operation.
  /// - Complexity: O(*n*) in the stores.
  public func waitGraph(limit: Int) -> OperationWaitGraph {
    let runs = self.stores().flatMap(\.runsUnderWay)
    let ordered = runs.filter { !$0.waits.isEmpty } + runs.filter(\.waits.isEmpty)
    var builder = OperationWaitGraph.Builder(limit: limit)
    for run in ordered.prefix(limit) { _ = builder.addOperation(run, run.name, run.state, at: run.path) }
    let added = ordered.filter { builder.operation($0) != nil }
    let byPath = Dictionary(grouping: added, by: \.path)
    for run in added {
      for wait in run.waits {
        let targets = wait.path.flatMap { byPath[$0] } ?? []
        let numbers = targets.isEmpty ? [builder.addResource(wait.subject())] : targets.map { builder.operation($0) }
        for number in numbers { builder.addWait(of: builder.operation(run), for: number) }
      }
    }
    let summary = ShownText.count(runs.count, "run")
    return builder.graph(named: "The stores", summary, leftOut: runs.count - added.count)
  }
}

/// A run under way, as a node of a graph.
private final class RunUnderWay: Sendable {
  let name: String
  let path: OperationPath
  let waits: [StoreWait]

  init(name: String, path: OperationPath, waits: [StoreWait]) {
    (self.name, self.path, self.waits) = (name, path, waits)
  }

  var state: String { self.waits.contains(where: \.isPause) ? "is paused" : "runs" }
}

extension OpaqueOperationStore {
  /// The runs under way, without the parts of an inspection that ask code of users.
  fileprivate var runsUnderWay: [RunUnderWay] {
    self.inspectedRuns.filter { $0.phase != .reserved }
      .map { RunUnderWay(name: self.operationName, path: self.path, waits: $0.waits) }
  }
}
