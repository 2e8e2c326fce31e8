public import OperationCore
public import OperationFoundation

/// How an operation is scheduled.
@usableFromInline
struct ScheduleRequest {
  var isVital = false
  var isBarrier = false
  // Raw: the compiler does not know the layout of `TaskPriority`, so copying a value with one inside looks its type up.
  var priority: UInt8?
  var name: String?
  var context: OperationContext?
  /// The operation that has produced this one.
  var producer: ScheduledNode?

  init(
    isVital: Bool = false,
    isBarrier: Bool = false,
    priority: TaskPriority? = nil,
    name: String? = nil,
    context: OperationContext? = nil,
    producer: ScheduledNode? = nil
  ) {
    // A barrier also holds back what is scheduled after it.
    self.isVital = isVital || isBarrier
    self.isBarrier = isBarrier
    self.priority = priority?.rawValue
    self.name = name
    self.context = context
    self.producer = producer
  }

  // All parameters are given, for inlined code: default arguments would be inlined, too.
  @usableFromInline
  init(_ isVital: Bool, _ priority: TaskPriority?, _ name: String?, _ context: OperationContext?) {
    self.init(isVital: isVital, priority: priority, name: name, context: context)
  }
}

/// The error of an operation that was added to a group, or produced by an operation, that had ended.
public struct OperationAddedAfterEnd: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the operation that was added.
  public let operationName: String

  /// The name of the group or operation that had ended.
  public let endedName: String

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - operationName: The name of the operation that was added.
  ///   - endedName: The name of the group or operation that had ended.
  public init(operationName: String, endedName: String) {
    self.operationName = operationName
    self.endedName = endedName
  }

  public var description: String {
    "\(self.operationName) was added to \(self.endedName), which had ended. Add it before the end."
  }
}

extension SchedulerCore {
  @inlinable
  func schedule<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    _ request: ScheduleRequest,
    _ configure: (ScheduledOperation<Operation.Value>) -> Void
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    let traits = OperationTraits.of(Operation.self)
    let node = self.makeNode(operation, traits, request)
    let handle = ScheduledOperation<Operation.Value>(node: node)
    self.setUp(node, OperationJob(operation: operation, handle: handle), traits, request)
    configure(handle)
    self.insert(node, request)
    return handle
  }

  @usableFromInline
  func makeNode<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    _ traits: OperationTraits,
    _ request: ScheduleRequest
  ) -> ScheduledNode {
    ScheduledNode(
      core: self,
      isVital: request.isVital,
      isBarrier: request.isBarrier,
      operationType: Operation.self,
      hasPreparation: traits.hasPreparation
        || (traits.hasSetup && traits.isErased && operation.hidesPreparation),
      name: request.name ?? operation.operationName
    )
  }

  @usableFromInline
  func setUp(
    _ node: ScheduledNode,
    _ job: any ScheduledJob,
    _ traits: OperationTraits,
    _ request: ScheduleRequest
  ) {
    let context = request.context.map { self.initialContext.adding($0) } ?? self.initialContext
    node.state.job = job
    node.state.context = context
    node.state.requestedPriority =
      request.priority ?? (context.hasTaskConfiguration ? context.operationTaskConfiguration.priority?.rawValue : nil)
    node.state.priority = node.state.requestedPriority ?? Self.mediumPriority
    guard traits.hasSetup else { return }
    // The setup connects a group with its operation, and unique work with the other runs of its identifier.
    var own = context
    job.setUp(&own)
    if let core = own.scheduledGroup { core.becomeGroup(of: node) }
    if let work = own.uniqueWork { UniqueWork.join(node, work) }
  }

  private enum Insertion: Sendable {
    case accepted(hasOutcome: Bool)
    case rejected(endedName: String?)
    case cycle(WaitCycle)
  }

  @usableFromInline
  func insert(_ node: ScheduledNode, _ request: ScheduleRequest) {
    // Read here, as the lock guards it once others have the node.
    let priority = node.state.requestedPriority
    if self.hasModules.isOn { self.callModules(for: node) }
    request.producer?.reportProduct(node)
    let producer = request.producer ?? RunScope.current?.node(in: self)
    let insertion = SchedulingLock.perform { actions -> Insertion in
      if request.producer?.hasOutcome == true { return .rejected(endedName: nil) }
      if self.machine.isClosed { return .rejected(endedName: self.name) }
      if let cycle = self.insert(node, inside: producer, &actions) { return .cycle(cycle) }
      return .accepted(hasOutcome: node.hasOutcome)
    }
    switch insertion {
    case .accepted(let hasOutcome):
      if !hasOutcome { self.makeTask(of: node, priority) }
    case .cycle(let cycle):
      let error = cycle.report()
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

  private func callModules(for node: ScheduledNode) {
    let modules = SchedulingLock.withLock { self.machine.modules }
    let scheduler = OperationScheduler(core: self)
    for module in modules { module(AnyScheduledOperation(node: node), scheduler) }
  }

  private static let mediumPriority = TaskPriority.medium.rawValue

  private func makeTask(of node: ScheduledNode, _ priority: UInt8?) {
    let executor = self.executorPreference
    if executor == nil, priority == nil {
      Task { await node.run() }
    } else {
      Task(executorPreference: executor, priority: priority.map { TaskPriority(rawValue: $0) }) { await node.run() }
    }
  }
}

// MARK: - All operations

extension SchedulerCore {
  func setWidth(_ width: Int) {
    SchedulingLock.perform { actions in
      self.machine.width = width
      self.admit(&actions)
    }
  }

  func resume() {
    SchedulingLock.perform { actions in
      self.machine.isSuspended = false
      self.admit(&actions)
    }
  }

  func cancelAll() {
    SchedulingLock.perform { actions in
      for node in self.machine.members.all { node.cancel(&actions) }
    }
  }

  func waitUntilEmpty(isolation: isolated (any Actor)?) async {
    var wait: ScopeWait?
    if let scope = RunScope.ofCurrentTask {
      switch SchedulingLock.withLock({ ScopeWait.begin(.empty(self), in: scope) }) {
      case .waits(let begun): wait = begun
      case .cycle(let cycle):
        _ = cycle.report()
        return
      }
    }
    defer { if let wait { SchedulingLock.withLock { wait.end() } } }
    let nodes = RunScope.current?.nodes ?? []
    for node in nodes { node.lend(for: NodeWait(.waitingUntilEmpty, [self.name])) }
    await withTaskCancellationHandler {
      await self.untilEmpty(isolation: isolation) { Task.isCancelled }
    } onCancel: {
      SchedulingLock.perform { actions in
        // Which waiter was cancelled is not known: all are resumed, and those that were not cancelled wait again.
        for waiter in self.machine.emptyWaiters { actions.resume(waiter) }
        self.machine.emptyWaiters = []
      }
    }
    for node in nodes.reversed() { await node.reclaim(after: .waitingUntilEmpty, isolation: isolation) }
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
        let mayContinue = SchedulingLock.withLock {
          if self.machine.members.isEmpty || mayLeave() { return true }
          self.machine.emptyWaiters.append(continuation)
          return false
        }
        if mayContinue { continuation.resume() }
      }
    }
  }
}

extension OperationAddedAfterEnd: LocalizedError {
  public var errorDescription: String? { self.description }
}
