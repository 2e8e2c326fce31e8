public import OperationCore

/// An operation that consists of others, and ends when the last of them has ended.
///
/// ```swift
/// let group = OperationGroup("import", maximumConcurrentOperations: 4)
/// for file in files { group.schedule(DownloadFile(file)) }
/// try await scheduler.schedule(group).value
/// ```
///
/// Operations can be added before the group begins and while it runs; what they produce belongs to the group, too. They
/// begin after the group has begun, may use the categories that the group holds, and are cancelled with it. An
/// operation that is added after the end is reported as ``OperationCore/OperationWarning/Code/addedAfterEnd``, and
/// fails.
///
/// A group runs once. After all of its operations have ended, it throws the error of its body, or else the error of the
/// first operation that has failed. An operation that was cancelled by itself does not make the group fail.
public final class OperationGroup: OperationRequest, Sendable {
  private let scheduler: OperationScheduler
  private let body: (@Sendable (OperationGroup) async throws -> Void)?

  /// The name of the group.
  public let operationName: String

  /// Creates a group.
  ///
  /// - Parameters:
  ///   - name: The name of the group.
  ///   - maximumConcurrentOperations: The number of operations of the group that may run at a time. A number below 1 is
  ///     reported, and counts as 1.
  ///   - body: Called when the group begins, to add operations. The group does not end before it returns.
  public init(
    _ name: String = "OperationGroup",
    maximumConcurrentOperations: Int = .max,
    body: (@Sendable (OperationGroup) async throws -> Void)? = nil
  ) {
    let core = SchedulerCore(
      width: maximumConcurrentOperations.validWidth,
      name: name,
      isSuspended: false,
      initialContext: OperationContext()
    )
    core.machine.isWaitingForGroup = true
    core.machine.errors = []
    self.operationName = name
    self.scheduler = OperationScheduler(core: core)
    self.body = body
  }

  var core: SchedulerCore { self.scheduler.core }

  /// Connects the group with the scheduler that runs it.
  public func setup(context: inout OperationContext) {
    context.scheduledGroup = self.core
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    guard self.core.beginGroup() else {
      OperationWarning(
        code: .addedAfterEnd,
        message: "The group \(self.operationName) was run twice. A group runs once; make a new one for each run."
      ).report()
      throw OperationAddedAfterEnd(operationName: self.operationName, endedName: self.operationName)
    }
    let bodyError = await withTaskCancellationHandler { () -> (any Error)? in
      var bodyError: (any Error)?
      do { if !self.isCancelled { try await self.body?(self) } } catch { bodyError = error }
      if let cycle = await self.core.closeWhenEmpty(isolation: isolation) { return cycle }
      return bodyError
    } onCancel: {
      self.core.cancelGroup()
    }
    if let error = bodyError ?? self.errors.first { throw error }
    if self.isCancelled { throw CancellationError() }
    try Task.checkCancellation()
  }
}

extension OperationGroup {
  /// Schedules an operation of the group: see ``OperationScheduler/schedule(_:vital:priority:named:in:configure:)``.
  @discardableResult
  public func schedule<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    named name: String? = nil,
    in context: OperationContext? = nil,
    configure: (ScheduledOperation<Operation.Value>) -> Void = { _ in }
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    let request = ScheduleRequest(isVital: vital, priority: priority, name: name, context: context)
    return self.core.schedule(operation, request, configure)
  }

  /// Schedules a closure as an operation of the group.
  @discardableResult
  public func schedule<Value: Sendable>(
    named name: String,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    _ body: @escaping @Sendable (OperationContext) async throws -> Value
  ) -> ScheduledOperation<Value> {
    self.schedule(ClosureOperation(name, body), vital: vital, priority: priority)
  }

  /// Schedules an operation of the group that is made from the value of another one, of any scheduler.
  ///
  /// See ``OperationScheduler/schedule(injecting:vital:priority:named:_:)``.
  @discardableResult
  public func schedule<Input: Sendable, Operation: OperationRequest & Sendable>(
    injecting input: ScheduledOperation<Input>,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    named name: String? = nil,
    _ make: @escaping @Sendable (Input) throws -> Operation
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    self.scheduler.schedule(injecting: input, vital: vital, priority: priority, named: name, make)
  }

  /// The errors of the operations that have failed so far, in the order in which they have ended.
  public var errors: [any Error] { SchedulingLock.withLock { self.core.machine.errors ?? [] } }

  /// How many operations of the group there are, and how many have ended.
  public var progress: OperationProgress { self.core.progress }
}

extension OperationContext {
  /// The scheduler of the group, where the operation is a group.
  var scheduledGroup: SchedulerCore? {
    get { self[ScheduledGroupKey.self] }
    set { self[ScheduledGroupKey.self] = newValue }
  }

  private enum ScheduledGroupKey: Key {
    static let defaultValue: SchedulerCore? = nil
  }
}

// MARK: - The lifecycle of a group

extension SchedulerCore {
  /// Makes `node` the operation of this group, unless another one is.
  func becomeGroup(of node: ScheduledNode) {
    SchedulingLock.withLock {
      guard self.machine.isWaitingForGroup, self.machine.groupNode == nil else { return }
      self.machine.groupNode = node
      node.state.groupCore = self
    }
  }

  /// Lets the operations of the group begin. Returns false if the group has begun before.
  fileprivate func beginGroup() -> Bool {
    let scope = RunScope.current
    return SchedulingLock.perform { actions in
      guard self.machine.isWaitingForGroup else { return false }
      self.machine.isWaitingForGroup = false
      self.machine.groupScope = scope
      self.admit(&actions)
      return true
    }
  }

  /// Waits until the group is empty. Returns the error of a group whose operations wait for it, which are cancelled.
  fileprivate func closeWhenEmpty(isolation: isolated (any Actor)?) async -> OperationCycleError? {
    SchedulingLock.withLock { self.machine.closesWhenEmpty = true }
    var wait: ScopeWait?
    var error: OperationCycleError?
    // The end of a scheduled group is known to wait for its operations.
    if let scope = RunScope.ofCurrentTask, SchedulingLock.withLock({ self.machine.groupNode == nil }) {
      switch SchedulingLock.withLock({ ScopeWait.begin(.empty(self), in: scope) }) {
      case .waits(let begun): wait = begun
      case .cycle(let cycle):
        error = cycle.report()
        self.cancelGroup()
      }
    }
    await self.untilEmpty(isolation: isolation)
    if let wait { SchedulingLock.withLock { wait.end() } }
    // Released after unlocking.
    _ = SchedulingLock.withLock { self.machine.groupScope.take() }
    return error
  }

  func cancelGroup() {
    SchedulingLock.perform { actions in
      self.machine.isCancelled = true
      for node in self.machine.members.all { node.cancel(&actions) }
    }
  }

  /// Ends the operations of a group that has ended without having begun, as the group has ended. Called under the lock.
  func abandonGroup(_ outcome: OperationOutcome?, _ actions: inout SchedulingActions) {
    self.machine.groupNode = nil
    guard self.machine.isWaitingForGroup else { return }
    self.machine.isWaitingForGroup = false
    self.machine.isClosed = true
    for node in self.machine.members.all {
      switch outcome {
      case .failed(let error): node.fail(error, &actions)
      case .cancelled(let error): node.cancel(with: error, &actions)
      case .succeeded, nil: node.cancel(&actions)
      }
    }
    self.noteEmptiness(&actions)
  }

  /// Ends the operations of a group that is refused before it begins, and that no scheduler runs.
  func refuseGroup(_ error: any Error) {
    let isCancellation = error is CancellationError || error is OperationSkipped
    SchedulingLock.perform { actions in
      guard self.machine.groupNode == nil else { return }
      self.abandonGroup(isCancellation ? .cancelled(error) : .failed(error), &actions)
    }
  }
}
