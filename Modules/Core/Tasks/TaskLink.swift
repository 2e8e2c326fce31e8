/// A strong reference to a node that a task waits for.
///
/// Each task of a chain keeps the next one alive. Released recursively, a long chain of tasks that never ran would need
/// a stack as deep as the chain is long. Instead, the thread that releases the first node releases all, one after
/// another.
final class TaskLink<Node: TaskNode>: TaskLinking {
  // No lock guards it: it is written only in `init` and `deinit`, when a single thread has the link.
  nonisolated(unsafe) private var held: Node?

  init(_ node: Node) {
    self.held = node
  }

  var typedNode: Node {
    guard let node = self.held else { preconditionFailure("A task link was used after it had released its node.") }
    return node
  }

  var node: any TaskNode { self.typedNode }

  deinit {
    guard let node = self.held.take() else { return }
    Unraveling.release(consume node)
  }
}

/// A ``TaskLink`` with the type of its node erased.
@usableFromInline
package protocol TaskLinking: AnyObject, Sendable {
  var node: any TaskNode { get }
}

private enum Unraveling {
  /// The nodes that a thread has still to release.
  private final class Pending {
    var nodes: [any TaskNode] = []
  }

  /// Releases a node: at once, or after the node that this thread is releasing.
  static func release(_ node: consuming any TaskNode) {
    if let pending = ThreadLocal.unraveling {
      return Unmanaged<Pending>.fromOpaque(pending).takeUnretainedValue().nodes.append(consume node)
    }
    let pending = Pending()
    pending.nodes.append(consume node)
    ThreadLocal.unraveling = Unmanaged.passUnretained(pending).toOpaque()
    while pending.nodes.popLast() != nil {}
    ThreadLocal.unraveling = nil
  }
}
