/// A strong reference to a node that a task waits for.
///
/// Each task of a chain keeps the next one alive. If a long chain of tasks that never ran were released recursively,
/// the stack would be as deep as the chain is long. Instead, the thread that releases the first node releases all, one
/// after another.
final class TaskLink<Node: TaskNode>: TaskLinking {
  // No lock guards it: it is written only in `init` and `deinit`, when a single thread has a reference to the link.
  nonisolated(unsafe) private var storedNode: Node?

  init(_ node: Node) {
    self.storedNode = node
  }

  var typedNode: Node {
    guard let node = self.storedNode else {
      preconditionFailure("A task link was used after it had released its node.")
    }
    return node
  }

  var node: any TaskNode { self.typedNode }

  deinit {
    guard let node = self.storedNode.take() else { return }
    ReleaseQueue.release(consume node)
  }
}

/// A ``TaskLink`` with the type of its node erased.
@usableFromInline
package protocol TaskLinking: AnyObject, Sendable {
  var node: any TaskNode { get }
}

/// Releases the nodes of a chain one after another, without recursion.
private enum ReleaseQueue {
  /// The nodes that a thread has yet to release.
  private final class Pending {
    var nodes: [any TaskNode] = []
  }

  /// Releases a node: at once, or after the node that this thread is releasing.
  static func release(_ node: consuming any TaskNode) {
    if let pending = ThreadLocal.pendingReleases {
      return Unmanaged<Pending>.fromOpaque(pending).takeUnretainedValue().nodes.append(consume node)
    }
    let pending = Pending()
    pending.nodes.append(consume node)
    ThreadLocal.pendingReleases = Unmanaged.passUnretained(pending).toOpaque()
    while pending.nodes.popLast() != nil {}
    ThreadLocal.pendingReleases = nil
  }
}
