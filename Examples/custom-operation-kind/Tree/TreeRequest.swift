import Operation

/// An operation that loads a tree branch by branch. It is a kind of operation, as queries and paginated requests are.
///
/// Its store loads the children of a node with `loadChildren(of:)`. A plain run, such as one that a subscription or an
/// invalidation starts, loads all branches again that are there, or the top when there is none.
protocol TreeRequest<NodeID, NodeValue>: DefaultStateRequest
where State == TreeState<NodeID, NodeValue>, Value == [TreeBranch<NodeID, NodeValue>], Failure == any Error {
  associatedtype NodeID: Hashable & Sendable
  associatedtype NodeValue: Sendable
  associatedtype State = TreeState<NodeID, NodeValue>
  associatedtype Value = [TreeBranch<NodeID, NodeValue>]
  associatedtype Failure = any Error

  /// Fetches the children of a node, or the nodes at the top for nil.
  func fetchChildren(
    of parent: NodeID?,
    isolation: isolated (any Actor)?,
    in context: OperationContext
  ) async throws -> [Tree<NodeID, NodeValue>.Node]
}

/// The children of one node: what a run of a tree request yields and returns.
struct TreeBranch<NodeID: Hashable & Sendable, NodeValue: Sendable>: Sendable {
  let parent: NodeID?
  let children: [Tree<NodeID, NodeValue>.Node]
}

/// What a run loads.
enum TreePart<NodeID: Hashable & Sendable>: Hashable, Sendable {
  case branch(of: NodeID?)
  /// All branches that are there, or the top.
  case loaded
}

extension TreeRequest {
  var initialState: TreeState<NodeID, NodeValue> { TreeState() }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[TreeBranch<NodeID, NodeValue>], any Error>
  ) async throws -> [TreeBranch<NodeID, NodeValue>] {
    let part = context.treePart(of: NodeID.self)
    // Without the entry of this run: the request may pass its context on to other operations.
    var context = context
    context.setTreePart(TreePart<NodeID>.loaded)
    if case .branch(let parent) = part {
      let children = try await self.fetchChildren(of: parent, isolation: isolation, in: context)
      return [TreeBranch(parent: parent, children: children)]
    }

    // The tree as it is when the run begins, after those that it had to wait for.
    var tree = (context.runningOperationStore?.base as? OperationStore<State>)?.currentValue ?? Tree()
    var branches: [TreeBranch<NodeID, NodeValue>] = []
    for parent in tree.count == 0 ? [nil] : tree.loadedParents {
      // A branch that this run has loaded may have removed it.
      if let parent, tree[parent] == nil { continue }
      try Task.checkCancellation()
      let children = try await self.fetchChildren(of: parent, isolation: isolation, in: context)
      tree.setChildren(children, of: parent)
      branches.append(TreeBranch(parent: parent, children: children))
      // Readers see each branch when it has arrived. If the run is cancelled, its store takes all of them back.
      continuation.yield(branches.suffix(1))
    }
    return branches
  }

  /// Two runs that load the same part can share their work. `deduplicated()` needs no other information.
  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    context.treePart(of: NodeID.self) == other.treePart(of: NodeID.self)
  }

  func taskName(in context: OperationContext) -> String {
    switch context.treePart(of: NodeID.self) {
    case .branch(nil): "\(self.operationName): top"
    case .branch(let parent?): "\(self.operationName): children of \(parent)"
    case .loaded: "\(self.operationName): loaded branches"
    }
  }
}

/// With any modifier around it, the operation stays of its kind.
extension ModifiedOperation: TreeRequest
where Operation: TreeRequest, Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure {
  typealias NodeID = Operation.NodeID
  typealias NodeValue = Operation.NodeValue

  func fetchChildren(
    of parent: Operation.NodeID?,
    isolation: isolated (any Actor)?,
    in context: OperationContext
  ) async throws -> [Tree<Operation.NodeID, Operation.NodeValue>.Node] {
    try await self.operation.fetchChildren(of: parent, isolation: isolation, in: context)
  }
}

extension OperationContext {
  func treePart<NodeID>(of type: NodeID.Type) -> TreePart<NodeID> { self[TreePartKey<NodeID>.self] }

  mutating func setTreePart<NodeID>(_ part: TreePart<NodeID>) { self[TreePartKey<NodeID>.self] = part }
}

private enum TreePartKey<NodeID: Hashable & Sendable>: OperationContext.Key {
  static var defaultValue: TreePart<NodeID> { .loaded }
}
