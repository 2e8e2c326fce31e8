internal import Synchronization

/// The waits of a run's work, if the callers of its store share runs.
@usableFromInline
package final class RunWaits: Sendable {
  private struct Nodes: Sendable {
    /// The queue that the run is in.
    var queue: WeakNode?
    /// The run that the work waits for. One that has ended may stay here.
    var called: WeakNode?
    /// The runs that the children of the run's task wait for, by the identities of the children. Those that have ended may stay here.
    var calledByChildren: [UInt: WeakNode] = [:]
    /// The waits of tasks that the work has made, and awaits or not.
    var unstructured: [UnstructuredWait] = []
  }

  let run: OperationTaskIdentifier
  /// The identity of the run's task while the task runs; 0 before and after, so that no later task is mistaken for it.
  let task = Atomic<UInt>(0)
  /// The place of the task's surroundings, which its children share; 0 before the work begins.
  private let place = Atomic<UInt>(0)
  /// Whether the run does its work itself: true once the run was compared with all others of its store.
  private let leads = Atomic(false)
  private let nodes = Mutex(Nodes())

  init(of run: OperationTaskIdentifier) {
    self.run = run
  }

  var edges: [WaitEdge] {
    let nodes = self.nodes.withLock { $0 }
    let certain = [nodes.queue?.node, nodes.called?.node] + nodes.calledByChildren.values.map(\.node)
    let awaited: [(any WaitNode)?] = nodes.unstructured.filter(\.isAwaited).map(\.node)
    return (certain + awaited).compactMap { node in node.map { WaitEdge(awaited: $0) } }
  }

  /// The waits of tasks that the work has made, and awaits or not.
  var unstructured: [UnstructuredWait] { self.nodes.withLock { $0.unstructured } }

  var isLeading: Bool { self.leads.load(ordering: .relaxed) }

  /// Notes that the run does its work itself. Called with the lock of the store held.
  func lead() {
    self.leads.store(true, ordering: .relaxed)
  }

  /// Notes that the work begins, in the task of the run.
  func noteWork() {
    self.place.store(EnclosingRun.place, ordering: .relaxed)
  }

  /// Whether the current task is a child of the run's task, which waits for it.
  var isInChildTask: Bool {
    let place = self.place.load(ordering: .relaxed)
    return place != 0 && self.task.load(ordering: .relaxed) != 0 && place == EnclosingRun.place
  }

  /// Whether the current task was made by the work, which goes on and need not wait for it: a `Task { }`, or a child of one.
  var isInUnstructuredTask: Bool { self.task.load(ordering: .relaxed) != 0 && !self.isInCurrentTask }

  func add(_ wait: UnstructuredWait) {
    self.nodes.withLock { $0.unstructured.append(wait) }
  }

  func remove(_ wait: UnstructuredWait) {
    self.nodes.withLock { nodes in nodes.unstructured.removeAll { $0 === wait } }
  }

  /// Notes that the run waits in `queue`; nil once it no longer waits.
  func note(queue: (any WaitNode)?) {
    let queue = queue.map(WeakNode.init)
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
      || self.isInChildTask
  }

  package func note(called node: (any WaitNode)?) {
    let called = node.map(WeakNode.init)
    let current = RunTask.current.identity
    let isOwn = !self.isInChildTask || self.task.load(ordering: .relaxed) == current
    let replaced = self.nodes.withLock { nodes in
      let known = isOwn ? nodes.called : nodes.calledByChildren[current]
      if isOwn { nodes.called = called } else { nodes.calledByChildren[current] = called }
      return known
    }
    _ = consume replaced  // Released after unlocking.
  }

  // All callers belong to the store that runs the operation. The store receives the progress itself.
  package func relay(_ progress: RunProgress, of id: OperationTaskIdentifier) {}
}
