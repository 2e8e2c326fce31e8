/// A weak reference to a node of the wait graph.
// An object, as most runs wait for nothing: with weak references in its state a deduplicated fetch takes 2 % longer.
package final class WeakNode: Sendable {
  package weak let node: (any WaitNode)?

  package init(_ node: any WaitNode) {
    self.node = node
  }
}
