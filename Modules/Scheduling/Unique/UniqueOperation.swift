public import OperationCore

/// What happens to a run of unique work while an earlier one has not ended.
@nonexhaustive(warn)
public enum UniqueWorkPolicy: Hashable, Sendable {
  /// The earlier run is kept, and the new one is skipped: it throws ``OperationSkipped``.
  case keep
  /// The earlier runs are cancelled, and the new one begins when they have ended.
  case replace
  /// The new run begins when the earlier ones have ended, however they end.
  case append
}

extension OperationRequest where Self: Sendable, Value: Sendable, Failure == any Error {
  /// Lets one run of an identifier run at a time, in the whole process.
  ///
  /// A scheduled operation counts from the time when it is scheduled, any other run from its beginning. A run inside of
  /// another one of the same identifier is part of it. Android's WorkManager has the same policies.
  ///
  /// - Parameters:
  ///   - id: The identifier. Values of different types are different identifiers.
  ///   - policy: What happens while an earlier run has not ended.
  /// - Returns: The operation, all runs of which have the identifier.
  public func unique(
    _ id: some Hashable & Sendable,
    policy: UniqueWorkPolicy
  ) -> ModifiedOperation<Self, UniqueOperation<Self>> {
    self.unique(id, policy: policy) { $0 }
  }
}

extension OperationRequest where Self: Sendable, Value: Sendable {
  /// Lets one run of an identifier run at a time, in the whole process.
  ///
  /// - Parameters:
  ///   - id: The identifier. Values of different types are different identifiers.
  ///   - policy: What happens while an earlier run has not ended.
  ///   - failure: Maps ``OperationSkipped``, the `CancellationError` of a run that was replaced before it began, or the
  ///     ``/OperationCore/OperationCycleError`` of a run whose turn would never come, to a failure of the operation.
  /// - Returns: The operation, all runs of which have the identifier.
  public func unique(
    _ id: some Hashable & Sendable,
    policy: UniqueWorkPolicy,
    else failure: @escaping @Sendable (any Error) -> Failure
  ) -> ModifiedOperation<Self, UniqueOperation<Self>> {
    self.modifier(UniqueOperation(id: UniqueID(id), policy: policy, failure: failure))
  }
}

/// The category of unique work, which is no category for mutual exclusion.
struct UniqueID<ID: Hashable & Sendable>: Hashable, Sendable, CustomStringConvertible {
  private let id: OperationPath.Element
  let description: String

  init(_ id: ID) {
    self.id = OperationPath.Element(id)
    self.description = ShownText.of(value: id)
  }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.id == rhs.id }

  func hash(into hasher: inout Hasher) {
    hasher.combine(self.id)
  }
}

/// A ``UniqueOperation`` of any operation.
protocol UniqueModifier {}

/// Lets one run of an identifier run at a time; applied by `unique(_:policy:)`.
// `Sendable` is required where the modifier is applied, and not of the operation here: the compiler would check it for the
// modifier and for the modified operation, so twice in each layer, and a chain of 18 would not compile within 40 s.
public struct UniqueOperation<Operation: OperationRequest & SendableMetatype>: OperationModifier, UniqueModifier
where Operation.Value: Sendable {
  private typealias Outcome = Result<Operation.Value, Operation.Failure>

  private let work: UniqueWork
  private let failure: @Sendable (any Error) -> Operation.Failure

  init<ID>(id: UniqueID<ID>, policy: UniqueWorkPolicy, failure: @escaping @Sendable (any Error) -> Operation.Failure) {
    let category = OperationCategory(id)
    self.work = UniqueWork(lane: CategoryLane.lanes(of: [category])[0], policy: policy, name: category.description)
    self.failure = failure
  }

  public var sourceText: String { ".unique(\(self.work.name))" }

  /// Marks the operation as unique work in the context that a scheduler reads.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.uniqueWork = self.work
    operation.setup(context: &context)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    if RunScope.current?.isInsideUniqueWork(self.work.lane.slot) == true {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    let scope = RunScope(
      parent: .current,
      operationType: Operation.self,
      uniqueSlot: self.work.lane.slot,
      name: operation.operationName
    )
    guard let member = SchedulingLock.perform({ UniqueWork.join(self.work, scope: scope, &$0) }) else {
      throw self.failure(self.work.skipped)
    }
    defer { SchedulingLock.perform { UniqueWork.leave(member, &$0) } }
    switch await member.turn(of: scope, in: context, isolation: isolation) {
    case .begins: break
    case .cancelled: throw self.failure(CancellationError())
    case .cycle(let cycle): throw self.failure(cycle.report())
    }
    // Safe, because the operation is Sendable where `unique(_:policy:)` is applied to it.
    nonisolated(unsafe) let operation = operation
    // A task of its own, which a replacing run can cancel without cancelling the task of the caller.
    let task = Task.immediate {
      scope.moveToCurrentTask()
      return await scope.perform { () -> Outcome in
        do throws(Operation.Failure) {
          return .success(try await operation.run(isolation: nil, in: context, with: continuation))
        } catch {
          return .failure(error)
        }
      }
    }
    member.keep(task)
    return try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }
}

extension UniqueMember {
  /// How the wait for a turn has ended.
  fileprivate enum Turn: Sendable {
    case begins
    /// The run was cancelled or replaced.
    case cancelled
    case cycle(WaitCycle)
  }

  /// Waits for the turn of the run.
  fileprivate func turn(
    of scope: RunScope,
    in context: OperationContext,
    isolation: isolated (any Actor)?
  ) async -> Turn {
    let beginning = SchedulingLock.withLock { self.state.isWaiting ? ScopeWait.begin(.unique(self), in: scope) : nil }
    var wait: ScopeWait?
    switch beginning {
    case nil: break
    case .waits(let begun): wait = begun
    case .cycle(let cycle): return .cycle(cycle)
    }
    defer { if let wait { SchedulingLock.withLock { wait.end() } } }
    let nodes = RunScope.current?.nodes ?? []
    for node in nodes { node.lend(for: NodeWait(.waitingForUniqueWork, [self.lane.category.description])) }
    let subject = { @Sendable [name] in "an earlier run of the unique work \(name)" }
    let waitOfRun = wait == nil ? nil : context.beginWait(for: subject)
    defer { if let waitOfRun { context.endWait(waitOfRun) } }
    await withTaskCancellationHandler {
      await self.suspend(isolation: isolation)
    } onCancel: {
      SchedulingLock.perform { actions in
        self.state.isCancelled = true
        if let resumption = self.state.waiter.decide(()) { actions.resume(resumption) }
      }
    }
    for node in nodes.reversed() { await node.reclaim(after: .waitingForUniqueWork, isolation: isolation) }
    return SchedulingLock.withLock { self.state.isCancelled || self.state.isWaiting } ? .cancelled : .begins
  }

  private func suspend(isolation: isolated (any Actor)?) async {
    await Waiter<Void>.outcome { continuation in
      SchedulingLock.withLock { self.state.waiter.suspend(continuation) }
    }
  }

  /// Keeps the task, so that a replacing run can cancel it.
  fileprivate func keep(_ task: some CancellableTask) {
    let isCancelled = SchedulingLock.withLock {
      self.state.task = task
      return self.state.isCancelled
    }
    if isCancelled { task.cancel() }
  }
}

extension RunScope {
  /// Whether the scope is part of a run of the unique work with a slot.
  fileprivate func isInsideUniqueWork(_ slot: Int) -> Bool {
    var scope: RunScope? = self
    while let current = scope {
      if current.uniqueSlot == slot { return true }
      if let node = current.node {
        let isMember = SchedulingLock.withLock { node.state.unique?.lane.slot == slot }
        if isMember { return true }
      }
      scope = current.parent
    }
    return false
  }
}

extension OperationContext {
  /// The unique work, where the operation is unique work.
  var uniqueWork: UniqueWork? {
    get { self[UniqueWorkKey.self] }
    set { self[UniqueWorkKey.self] = newValue }
  }

  private enum UniqueWorkKey: Key {
    static let defaultValue: UniqueWork? = nil
  }
}
