/// Holds on to a node that a task waits for, and may be the last to do so.
///
/// A chain of tasks holds each link by the one before. Were each let go by the one before as well, a long chain that nobody
/// runs would go with a stack as deep as it is long; so whoever lets go of the first lets go of all, one after the other.
final class TaskLink<Node: TaskNode>: TaskLinking {
  // Unsafe only in name: it is set when the link is made and taken when it goes, by the one thread that has it then.
  nonisolated(unsafe) private var held: Node?

  init(_ node: Node) {
    self.held = node
  }

  var typedNode: Node {
    guard let node = self.held else { preconditionFailure("A link that is gone has been asked for its node.") }
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
  /// What a thread has still to let go of.
  private final class Pending {
    var nodes: [any TaskNode] = []
  }

  /// Lets go of a node: now, or when the thread has let go of the one that it is busy with.
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
