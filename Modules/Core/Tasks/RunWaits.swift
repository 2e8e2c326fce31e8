internal import Synchronization

/// The waits of a run's work, if the callers of its store share runs.
@usableFromInline
package final class RunWaits: Sendable {
  private struct Nodes: Sendable {
    /// The queue that the run is in, or was in last.
    var queue: WeakNode?
    /// The run that the work waited for last.
    var called: WeakNode?
  }

  let run: OperationTaskIdentifier
  /// The identity of the run's task while the task runs; 0 before and after, so that no later task is mistaken for it.
  let task = Atomic<UInt>(0)
  /// Whether the run does its work itself: true once the run was compared with all others of its store.
  private let leads = Atomic(false)
  private let nodes = Mutex(Nodes())

  init(of run: OperationTaskIdentifier) {
    self.run = run
  }

  var edges: [WaitEdge] {
    let (queue, called) = self.nodes.withLock { ($0.queue, $0.called) }
    return [queue?.node, called?.node].compactMap { node in node.map { WaitEdge(awaited: $0) } }
  }

  var isLeading: Bool { self.leads.load(ordering: .relaxed) }

  /// Notes that the run does its work itself. Called with the lock of the store held.
  func lead() {
    self.leads.store(true, ordering: .relaxed)
  }

  /// Notes that the run waits in `queue`, until it waits in another one.
  func note(queue: any WaitNode) {
    let queue = WeakNode(queue)
    let replaced = self.nodes.withLock { nodes in
      defer { nodes.queue = queue }
      return nodes.queue
    }
    _ = consume replaced  // Released after unlocking.
  }
}

extension RunWaits: WaitingRun {
  package var isInCurrentTask: Bool {
    let task = self.task.load(ordering: .relaxed)
    return task == RunTask.current.identity || (task != 0 && CallInTask.isCurrentTaskAwaited(by: task))
  }

  package func note(called node: any WaitNode) {
    let called = WeakNode(node)
    let replaced = self.nodes.withLock { nodes in
      defer { nodes.called = called }
      return nodes.called
    }
    _ = consume replaced  // Released after unlocking.
  }

  // All callers belong to the store that runs the operation. The store receives the progress itself.
  package func relay(_ progress: RunProgress, of id: OperationTaskIdentifier) {}
}
