internal import Synchronization

/// A strong reference to a run that a task waits for.
///
/// Each task of a chain keeps the next one alive. If a long chain of tasks that never ran were released recursively,
/// the stack would be as deep as the chain is long. Instead, the thread that releases the first node releases all, one
/// after another.
final class TaskLink: Sendable {
  private let storedNode: Mutex<SharedRun?>

  init(_ node: SharedRun) {
    self.storedNode = Mutex(node)
  }

  var node: SharedRun {
    guard let node = self.storedNode.withLock({ $0 }) else {
      preconditionFailure("A task link was used after it had released its node.")
    }
    return node
  }

  deinit {
    guard let node = self.storedNode.withLock({ $0.take() }) else { return }
    ReleaseQueue.release(consume node)
  }
}

/// Releases the nodes of a chain one after another, without recursion.
private enum ReleaseQueue {
  /// The nodes that a thread has yet to release.
  private final class Pending {
    var nodes: [SharedRun] = []
  }

  /// Releases a node: at once, or after the node that this thread is releasing.
  static func release(_ node: consuming SharedRun) {
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
