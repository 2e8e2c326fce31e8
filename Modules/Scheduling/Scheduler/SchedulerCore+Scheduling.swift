internal import OperationCore

/// How an operation is scheduled.
struct ScheduleRequest {
  var isVital = false
  var priority: TaskPriority?
  var name: String?
  var context: OperationContext?
  /// The operation that has produced this one.
  var producer: ScheduledNode?
}

/// The error of an operation that was added to a group, or produced by an operation, that had ended.
public struct OperationAddedAfterEnd: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the operation that was added.
  public let operationName: String

  /// The name of the group or operation that had ended.
  public let endedName: String

  /// Creates an error.
  public init(operationName: String, endedName: String) {
    self.operationName = operationName
    self.endedName = endedName
  }

  public var description: String {
    "\(self.operationName) was added to \(self.endedName), which had ended. Add it before the end."
  }
}

extension SchedulerCore {
  func schedule<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    _ request: ScheduleRequest,
    _ configure: (ScheduledOperation<Operation.Value>) -> Void
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    let node = ScheduledNode(
      core: self,
      isVital: request.isVital,
      operationType: Operation.unmodifiedType,
      explicitName: request.name
    )
    let handle = ScheduledOperation<Operation.Value>(node: node)
    let context = request.context.map { self.initialContext.adding($0) } ?? self.initialContext
    let priority =
      request.priority ?? (context.hasTaskConfiguration ? context.operationTaskConfiguration.priority : nil)
    node.state.job = OperationJob(operation: operation, context: context, handle: handle)
    node.state.priority = (priority ?? .medium).rawValue
    let traits = OperationTraits.of(Operation.self)
    if traits.isGroup || traits.isUnique { self.attach(node, operation, context) }
    configure(handle)
    let modules = SchedulingLock.withLock { self.machine.modules }
    if !modules.isEmpty {
      let scheduler = OperationScheduler(core: self)
      for module in modules { module(AnyScheduledOperation(node: node), scheduler) }
    }
    self.insert(node, request, priority)
    return handle
  }

  /// Connects a group with its operation, and unique work with the others of its kind.
  private func attach(_ node: ScheduledNode, _ operation: some OperationRequest, _ context: OperationContext) {
    var context = context
    operation.setup(context: &context)
    if let core = context.scheduledGroup { core.becomeGroup(of: node) }
    if let work = context.uniqueWork { UniqueWork.join(node, work) }
  }

  private enum Insertion: Sendable {
    case accepted(isOver: Bool)
    case rejected(endedName: String?)
    case circle([ScheduledNode])
  }

  private func insert(_ node: ScheduledNode, _ request: ScheduleRequest, _ priority: TaskPriority?) {
    request.producer?.noteProduced(node)
    let parent = request.producer ?? AnyScheduledOperation.current?.node
    let insertion = SchedulingLock.perform { actions -> Insertion in
      if request.producer?.isOver == true { return .rejected(endedName: nil) }
      if self.machine.isClosed { return .rejected(endedName: self.name) }
      if let circle = self.insert(node, inside: parent, &actions) { return .circle(circle) }
      return .accepted(isOver: node.isOver)
    }
    switch insertion {
    case .accepted(let isOver):
      if !isOver { self.makeTask(of: node, priority) }
    case .circle(let nodes):
      let error = WaitPath.report(nodes)
      SchedulingLock.perform { node.fail(error, &$0) }
    case .rejected(let endedName):
      let error = OperationAddedAfterEnd(
        operationName: node.name,
        endedName: endedName ?? request.producer?.name ?? self.name
      )
      OperationWarning(code: .addedAfterEnd, message: error.description).report()
      SchedulingLock.perform { self.reject(node, error, &$0) }
    }
  }

  private func makeTask(of node: ScheduledNode, _ priority: TaskPriority?) {
    let executor = self.executorPreference
    if executor == nil, priority == nil {
      Task { await node.run() }
    } else {
      Task(executorPreference: executor, priority: priority) { await node.run() }
    }
  }
}

// MARK: - All operations

extension SchedulerCore {
  func cancelAll() {
    SchedulingLock.perform { actions in
      for node in self.machine.members.all { node.cancel(&actions) }
    }
  }

  func waitUntilEmpty(isolation: isolated (any Actor)?) async {
    let scope = RunScope.current
    if let node = scope?.currentNode, node.isPart(of: self) {
      let name = node.name
      OperationCircleError(operationNames: [name, self.name, name]).report()
      return
    }
    let places = scope?.places ?? []
    for place in places { place.lend() }
    await withTaskCancellationHandler {
      await self.untilEmpty(isolation: isolation) { Task.isCancelled }
    } onCancel: {
      SchedulingLock.perform { actions in
        // Each cancelled waiter looks whether it is cancelled; the others wait again.
        actions.resumptions += self.machine.emptyWaiters
        self.machine.emptyWaiters = []
      }
    }
    for place in places.reversed() { await place.reclaim(isolation: isolation) }
  }

  /// Waits until there is no operation, or until `mayLeave` returns true after a resumption.
  func untilEmpty(isolation: isolated (any Actor)?, orUntil mayLeave: () -> Bool = { false }) async {
    while true {
      let isEmpty = SchedulingLock.perform { actions in
        if self.machine.members.isEmpty { self.noteEmptiness(&actions) }
        return self.machine.members.isEmpty
      }
      if isEmpty || mayLeave() { return }
      await withUnsafeContinuation { continuation in
        let isOver = SchedulingLock.withLock {
          if self.machine.members.isEmpty || mayLeave() { return true }
          self.machine.emptyWaiters.append(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    }
  }
}

extension ScheduledNode {
  /// Whether the operation, or a group that it is part of, belongs to a scheduler.
  fileprivate func isPart(of core: SchedulerCore) -> Bool {
    SchedulingLock.withLock { self.withGroups }.contains { $0.core === core }
  }
}
