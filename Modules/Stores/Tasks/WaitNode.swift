/// Something that runs wait for and that can be part of a cycle of waits: a queue, a lane, a batch.
///
/// A run that waits in a queue until its holder has left never ends if the holder waits for that run. A queue that conforms,
/// and lets runs wait by ``OperationContext/awaiting(_:for:_:)``, is searched for such cycles: the wait that would close one is
/// reported, and does not begin.
///
/// ```swift
/// final class Turnstile: WaitNode {
///   private let holder = Mutex<RunNode?>(nil)
///
///   var waitName: String? { "the turnstile" }
///   var waits: [WaitEdge] { self.holder.withLock { $0 }.map { [WaitEdge(to: $0)] } ?? [] }
/// }
/// ```
public protocol WaitNode: AnyObject, Sendable {
  /// The name in the report of a cycle, without user data; nil to be left out.
  var waitName: String? { get }

  /// What has to end before a wait for this node ends: the runs that hold it, or what it waits for itself.
  ///
  /// Called in any task, with no lock of the library held. It may take a lock of its own for a moment, and calls neither stores
  /// nor clients.
  var waits: [WaitEdge] { get }

  /// Whether the node continues as soon as one of ``waits`` has ended. Otherwise it continues after the last. False by default.
  var continuesAfterAnyWait: Bool { get }

  /// Whether a run waits for its turn here, and not for work that it has called. True by default.
  ///
  /// A caller never joins a run that its own work has called. A run that only waits for its turn behind the caller is not
  /// joined either, but the caller begins a run of its own.
  var isQueue: Bool { get }

  /// Whether the current task does what the node's waiters wait for, for a node that knows it otherwise than by ``waits``.
  ///
  /// False by default. The work of ``OperationContext/performing(workOf:_:)`` counts in any case.
  var isEndedByCurrentTask: Bool { get }

  /// Called when a run inside of the node's work is about to wait, with no lock held: lend what others can use meanwhile.
  ///
  /// The node's work is what ``OperationContext/performing(workOf:_:)`` performs, with the tasks that it makes until it has ended.
  /// The node hears of waits in ``OperationContext/awaiting(_:isPause:_:)`` and ``OperationContext/awaiting(_:for:_:)``, and of
  /// pauses, as in ``OperationContext/pause(until:timeout:)``. It does not hear that the work joins or awaits the run of another
  /// store. Of several nodes around the run the inner one is called first. Nothing by default.
  ///
  /// - Parameter wait: The wait. A pause waits for a condition.
  func workWillWait(for wait: StoreWait)

  /// Called when the wait has ended in any way. The run continues when this returns. The outer node is called first. Not called
  /// for a wait that outlives the work, in a task that the work has made. Nothing by default.
  ///
  /// - Parameter wait: The wait that ``workWillWait(for:)`` has got.
  nonisolated(nonsending) func workGoesOn(after wait: StoreWait) async
}

extension WaitNode {
  public var continuesAfterAnyWait: Bool { false }
  public var isQueue: Bool { true }
  public var isEndedByCurrentTask: Bool { false }
  public func workWillWait(for wait: StoreWait) {}
  public nonisolated(nonsending) func workGoesOn(after wait: StoreWait) async {}
}

/// A wait for a run, or for a queue of runs.
public struct WaitEdge: Sendable {
  private enum Target: Sendable {
    case node(any WaitNode)
    /// A run whose store is asked for it later: an author may make the edge under a lock.
    case run(RunNode)
  }

  private let target: Target
  /// Whether the work of the waiting run calls the node. False if the run only comes after the node.
  let isCall: Bool

  package init(_ node: any WaitNode, isCall: Bool) {
    self.target = .node(node)
    self.isCall = isCall
  }

  /// Creates the wait of a run that comes after a task, without calling it.
  public init<Value, Failure>(after task: OperationTask<Value, Failure>) {
    self.init(task.sharedRun, isCall: false)
  }

  /// Creates the wait for a node.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - isCall: Whether the work of what waits has called the node. False, the default, for a turn that comes after it.
  public init(to node: some WaitNode, isCall: Bool = false) {
    self.init(node, isCall: isCall)
  }

  /// Creates the wait for a run, such as the one that holds a queue.
  public init(to run: RunNode) {
    self.target = .run(run)
    self.isCall = false
  }

  /// Creates the wait for a run that the work of another run calls, or for a turn in a queue.
  package init(awaited node: any WaitNode) {
    self.init(node, isCall: !node.isQueue)
  }

  /// The node that is waited for. If the edge was made for a run, this takes the lock of its store, and a run that has ended
  /// meanwhile is another node the next time: see ``resolved(_:)``.
  var node: any WaitNode {
    switch self.target {
    case .node(let node): node
    case .run(let run): run.node
    }
  }

  /// The edges with their nodes, so that each has the same node whenever it is read.
  static func resolved(_ edges: [WaitEdge]) -> [WaitEdge] {
    edges.contains(where: \.isOfRun) ? edges.map { WaitEdge($0.node, isCall: $0.isCall) } : edges
  }

  private var isOfRun: Bool {
    if case .run = self.target { true } else { false }
  }
}

/// A run in the graph of waits, as ``OperationContext/runNode`` returns it. It keeps neither the run nor its store alive.
public struct RunNode: Hashable, Sendable {
  private let id: OperationTaskIdentifier
  private let store: StoreReference

  init(_ id: OperationTaskIdentifier, of store: StoreReference) {
    (self.id, self.store) = (id, store)
  }

  /// The run; nil once it has ended.
  var run: SharedRun? {
    guard let runtime = self.store.runtime else { return nil }
    return runtime.withMachine { machine in
      machine.index(ofRun: self.id).map { machine.runs[$0].task.sharedRun }
    }
  }

  fileprivate var node: any WaitNode { self.run ?? EndedRun.only }
}

/// A run that has ended, and waits for nothing.
private final class EndedRun: WaitNode {
  static let only = EndedRun()

  var waitName: String? { nil }
  var waits: [WaitEdge] { [] }
}

/// A wait for a node, as long as it is under way: runs refer to it weakly.
private final class AwaitedNode: WaitNode {
  private let node: any WaitNode

  init(_ node: any WaitNode) {
    self.node = node
  }

  var waitName: String? { nil }
  var waits: [WaitEdge] { [WaitEdge(awaited: self.node)] }
  var isQueue: Bool { self.node.isQueue }
}

extension OperationContext {
  /// The run with this context, for ``WaitNode/waits`` of what it holds; nil in a run without a store and outside of runs.
  ///
  /// Ask for it in the task of the run. From then on, what the run calls is noted until it ends. What its child tasks call is
  /// noted as well if a client has the store, or if the callers share the run.
  public var runNode: RunNode? {
    guard let id = self.run.taskIdentifier, let store = self.run.store else { return nil }
    let node = RunNode(id, of: store)
    if self.run.waits == nil, let run = node.run { LateRunWaits.begin(of: run) }
    return node
  }

  /// Waits for a node, such as a turn in a queue, unless the wait would close a cycle.
  ///
  /// ```swift
  /// // In `run` of a modifier, where it has to wait:
  /// try await context.awaiting(turnstile, for: { "the turnstile" }) { await turnstile.turn(of: context.runNode) }.get()
  /// ```
  ///
  /// While it waits, the run has an edge to the node. The wait is noted before the search, so of two that close a cycle at the
  /// same time at least one finds it. A cycle is reported as an ``OperationWarning``, and returned. Explanations, events and wait
  /// graphs show the wait. In a run without a store no cycle is found.
  ///
  /// Do not wait for another node inside of `wait`: the run has an edge for its last wait only.
  ///
  /// - Parameters:
  ///   - node: What to wait for.
  ///   - subject: Returns the text that follows "it waits for", without user data. Called with no lock held, also during the
  ///     wait.
  ///   - wait: Waits, in the isolation of the caller. It is not called if the wait would close a cycle.
  /// - Returns: The result of `wait`, or the cycle.
  /// - Throws: The error of `wait`.
  /// - Complexity: O(*n*) in the waits that the node leads to.
  public nonisolated(nonsending) func awaiting<R, E: Error>(
    _ node: some WaitNode,
    for subject: @escaping @Sendable () -> String,
    _ wait: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> Result<R, OperationCycleError> {
    // What the run waits for is noted for it, as for the runs that hold a node.
    _ = self.runNode
    let awaited = AwaitedNode(node)
    self.note(awaited: awaited)
    if let names = WaitGraph.findCycle(awaiting: awaited) {
      let cycle = OperationCycleError(operationNames: names)
      cycle.report()
      return .failure(cycle)
    }
    let result = try await self.awaiting(subject(), wait)
    // The edge to the node exists until here.
    withExtendedLifetime(awaited) {}
    return .success(result)
  }
}
