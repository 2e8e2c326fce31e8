internal import OperationCore

/// The derived queries whose runs wait for others, to find cycles.
enum DerivationWaits {
  /// The nodes that a node waits for, with the number of its runs that do.
  private struct Waits: Sendable {
    let node: DerivationNode
    var awaited: [(node: DerivationNode, count: Int)] = []
  }

  private static let waits = Locked<[ObjectIdentifier: Waits]>([:])

  /// Notes that a run of a node waits for another node, unless that waits for the first one.
  ///
  /// - Returns: The names of the queries of the cycle, from `awaited` to itself; nil if there is none.
  /// - Complexity: O(*n*) in the nodes that `awaited` waits for.
  static func begin(_ node: DerivationNode, for awaited: DerivationNode) -> [String]? {
    self.waits.withLock { all, released in
      if let path = self.path(from: awaited, to: node, in: all) {
        released.append(path)
        return (path + [awaited]).map(\.name)
      }
      var waits = all[ObjectIdentifier(node)] ?? Waits(node: node)
      if let index = waits.awaited.firstIndex(where: { $0.node === awaited }) {
        waits.awaited[index].count += 1
      } else {
        waits.awaited.append((awaited, 1))
      }
      all[ObjectIdentifier(node)] = waits
      return nil
    }
  }

  /// Notes that a run of a node no longer waits for another node.
  static func end(_ node: DerivationNode, for awaited: DerivationNode) {
    self.waits.withLock { all, released in
      guard var waits = all.removeValue(forKey: ObjectIdentifier(node)) else { return }
      // The caller holds both nodes; kept all the same, so that none is released under the lock.
      released.append(waits)
      guard let index = waits.awaited.firstIndex(where: { $0.node === awaited }) else { return }
      waits.awaited[index].count -= 1
      if waits.awaited[index].count == 0 { waits.awaited.remove(at: index) }
      if !waits.awaited.isEmpty { all[ObjectIdentifier(node)] = waits }
    }
  }

  /// The nodes on a shortest way from one node to another along the waits, both included; nil if there is none.
  private static func path(
    from start: DerivationNode,
    to goal: DerivationNode,
    in all: [ObjectIdentifier: Waits]
  ) -> [DerivationNode]? {
    var search = GraphSearch<DerivationNode, ObjectIdentifier>()
    search.add(start, ObjectIdentifier(start))
    while let (step, node) = search.next() {
      if node === goal { return search.path(to: step) }
      for (next, _) in all[ObjectIdentifier(node)]?.awaited ?? [] {
        search.add(next, ObjectIdentifier(next), after: step)
      }
    }
    return nil
  }
}
