import Operation

extension OperationStore {
  /// Loads the children of a node, or the nodes at the top for nil, and waits for them.
  ///
  /// If the operation shares runs, the call joins a run that loads the same branch.
  ///
  /// - Throws: The error of the request.
  @discardableResult
  func loadChildren<NodeID, NodeValue>(
    of parent: NodeID?,
    using context: OperationContext = OperationContext()
  ) async throws -> [Tree<NodeID, NodeValue>.Node] where State == TreeState<NodeID, NodeValue> {
    var context = context
    context.setTreePart(TreePart.branch(of: parent))
    return try await self.run(using: context).flatMap(\.children)
  }
}
