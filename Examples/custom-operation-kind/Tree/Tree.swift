/// A tree that is loaded branch by branch: some nodes have their children, others have not loaded them yet.
///
/// A branch consists of the children of one node. The nodes at the top have no parent, which is written as nil. A node
/// is in one branch: it must be removed before it can move to another one.
struct Tree<NodeID: Hashable & Sendable, NodeValue: Sendable>: Sendable {
  struct Node: Identifiable, Sendable {
    let id: NodeID
    var value: NodeValue
  }

  private var nodes: [NodeID: Node] = [:]
  private var childIDs: [NodeID?: [NodeID]] = [:]

  /// The children of a node, those at the top for nil; nil when they are not loaded.
  func children(of parent: NodeID?) -> [Node]? {
    self.childIDs[parent].map { ids in ids.compactMap { self.nodes[$0] } }
  }

  /// The number of nodes that are there.
  var count: Int { self.nodes.count }

  /// A node's value; nil when there is no such node. Setting one of a missing node has no effect.
  subscript(id: NodeID) -> NodeValue? {
    get { self.nodes[id]?.value }
    set { if let newValue, self.nodes[id] != nil { self.nodes[id]?.value = newValue } }
  }

  /// The nodes whose children are loaded, each after its parent; nil, which is the first, stands for the top.
  var loadedParents: [NodeID?] {
    guard self.childIDs[nil] != nil else { return [] }
    return [nil] + self.flattened.filter { self.childIDs[$0.node.id] != nil }.map { $0.node.id }
  }

  /// All nodes from the top down, with the number of nodes above them: a node's children come after it.
  var flattened: [(depth: Int, node: Node)] {
    var list: [(depth: Int, node: Node)] = []
    // Not recursive: a discussion may be deeper than the stack.
    var pending = (self.children(of: nil) ?? []).reversed().map { (depth: 0, node: $0) }
    while let next = pending.popLast() {
      list.append(next)
      pending += (self.children(of: next.node.id) ?? []).reversed().map { (depth: next.depth + 1, node: $0) }
    }
    return list
  }

  /// Replaces the children of a node. Branches below children that stay are kept, and all others are removed.
  ///
  /// It has no effect if the node is not there any more.
  mutating func setChildren(_ children: [Node], of parent: NodeID?) {
    if let parent, self.nodes[parent] == nil { return }
    let old = self.childIDs[parent] ?? []
    self.childIDs[parent] = children.map(\.id)
    for child in children { self.nodes[child.id] = child }
    let stays = Set(children.map(\.id))
    var gone = old.filter { !stays.contains($0) }
    while let id = gone.popLast() {
      self.nodes[id] = nil
      gone += self.childIDs.removeValue(forKey: id) ?? []
    }
  }
}

extension Tree.Node: Equatable where NodeValue: Equatable {}
extension Tree: Equatable where NodeValue: Equatable {}
