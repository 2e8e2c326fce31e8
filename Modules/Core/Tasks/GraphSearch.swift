/// A breadth-first search through a graph of waits. All cycles of waits are found by it.
///
/// It visits no node twice, and remembers how it has reached each. The caller adds what a node waits for, and holds the
/// locks of the graph meanwhile. The search keeps the nodes alive, so that none is released under such a lock if the
/// search ends after unlocking.
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
  ///   - id: What the node is known by.
  ///   - previous: The step that has led to it; nil for a node with which the search begins.
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
