internal import OperationCore

/// A weak reference to the run that the work of a deduplicated run called last.
// An object: with a weak reference in its state, a deduplicated fetch takes 2 % longer.
@usableFromInline
final class CalledRun: Sendable {
  weak let node: (any WaitNode)?

  init(node: any WaitNode) {
    self.node = node
  }
}
