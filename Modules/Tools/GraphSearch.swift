/// A breadth-first search through a graph of waits, which finds cycles.
///
/// It visits no node twice, and remembers the path to each node. The caller adds the waits of each node, and holds the
/// locks of the graph meanwhile. The search keeps the nodes alive. If it is released after unlocking, no node is
/// released under such a lock.
@usableFromInline
package struct GraphSearch<Node, ID: Hashable> {
  @usableFromInline var steps: [(node: Node, previous: Int?)] = []
  @usableFromInline var known: Set<ID> = []
  @usableFromInline var position = 0

  @inlinable
  package init() {}

  /// Adds a node to visit, unless it was added before.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - id: The identity of the node.
  ///   - previous: The step that has led to the node; nil for a node with which the search begins.
  @inlinable
  package mutating func add(_ node: Node, _ id: ID, after previous: Int? = nil) {
    if self.known.insert(id).inserted { self.steps.append((node, previous)) }
  }

  /// The next step, with the node to visit; nil when all nodes that can be reached were visited.
  @inlinable
  package mutating func next() -> (step: Int, node: Node)? {
    guard self.position < self.steps.count else { return nil }
    defer { self.position += 1 }
    return (self.position, self.steps[self.position].node)
  }

  /// The nodes on the way to a step, from the node with which the search began: a shortest path.
  @inlinable
  package func path(to step: Int) -> [Node] {
    var path: [Node] = []
    var next: Int? = step
    while let index = next {
      path.append(self.steps[index].node)
      next = self.steps[index].previous
    }
    return path.reversed()
  }
}
