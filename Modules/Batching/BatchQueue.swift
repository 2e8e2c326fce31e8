public import OperationCore
internal import Synchronization

/// The open batches of a batcher, without the types of its keys and values.
///
/// Keys and scopes are hashed and compared with the lock held: see ``OperationBatcher``.
@usableFromInline
final class BatchQueue: Sendable {
  @usableFromInline
  enum Step: Sendable {
    /// The caller waits.
    case joined
    /// The caller waits, and has opened the batch, whose window it has to start.
    case opened(Batch)
    /// The caller waits, and its key completes the batch, which the caller has to send.
    case completed(Batch)
    /// The caller was cancelled before it joined.
    case cancelled
  }

  private let maximumSize: Int
  private let window: Duration
  private let open = Mutex(OpenBatches())

  private struct OpenBatches: @unchecked Sendable {
    // Unchecked because the scopes, whose types are erased, are Sendable.
    /// The batch of the callers without a scope, which most callers are.
    private var unscoped: Batch?
    private var scoped: [AnyHashable: Batch] = [:]

    var count: Int { self.scoped.count + (self.unscoped == nil ? 0 : 1) }

    subscript(scope: AnyHashable?) -> Batch? {
      get { if let scope { self.scoped[scope] } else { self.unscoped } }
      set { if let scope { self.scoped[scope] = newValue } else { self.unscoped = newValue } }
    }

    mutating func remove(_ batch: Batch) {
      if self[batch.scope] === batch { self[batch.scope] = nil }
    }
  }

  @usableFromInline
  init(maximumSize: Int, window: Duration) {
    self.maximumSize = maximumSize
    self.window = window
  }

  /// The number of batches that collect keys.
  @usableFromInline var openCount: Int { self.open.withLock { $0.count } }
}

// MARK: - Joining

extension BatchQueue {
  /// Joins the open batch of the scope, or opens one.
  ///
  /// - Parameters:
  ///   - member: The caller.
  ///   - context: The context of the caller.
  /// - Returns: Whether the caller waits now, and what it has to do next.
  @usableFromInline
  func join(_ member: BatchMember, in context: OperationContext) -> Step {
    let scope = context.hasBatchScope ? context.operationBatchScope.map { AnyHashable($0) } : nil
    let priority = Task.currentPriority.rawValue
    return self.open.withLock { open in
      let step = self.join(member, scope, context, &open)
      if let batch = member.state.batch { batch.state.priority = max(batch.state.priority, priority) }
      return step
    }
  }

  private func join(
    _ member: BatchMember,
    _ scope: AnyHashable?,
    _ context: OperationContext,
    _ open: inout OpenBatches
  ) -> Step {
    guard member.state.phase == .arriving else { return .cancelled }
    guard let batch = open[scope] else {
      return self.open(Batch(scope: scope, context: context.forBatch, maximumSize: self.maximumSize), member, &open)
    }
    if let leader = batch.leader(of: member) {
      batch.add(member, after: leader)
      return .joined
    }
    batch.add(member)
    guard batch.state.leaders.count >= self.maximumSize else { return .joined }
    batch.state.phase = .sent
    open.remove(batch)
    return .completed(batch)
  }

  private func open(_ batch: Batch, _ member: BatchMember, _ open: inout OpenBatches) -> Step {
    batch.add(member)
    guard self.maximumSize > 1 else {
      batch.state.phase = .sent
      return .completed(batch)
    }
    open[batch.scope] = batch
    return .opened(batch)
  }

  /// Starts the window of a batch.
  ///
  /// - Parameters:
  ///   - batch: The batch, which the caller has opened.
  ///   - send: Sends the batch when its window is over.
  @usableFromInline
  func startWindow(of batch: Batch, send: @escaping @Sendable (Batch) -> Void) {
    let timer = batch.context.operationDeadlines.schedule(after: self.window) { [weak self, weak batch] in
      guard let self, let batch, self.close(batch) else { return }
      send(batch)
    }
    let isObsolete = self.open.withLock { _ in
      guard batch.state.phase == .open else { return true }
      batch.state.timer = timer
      return false
    }
    if isObsolete { timer.cancel() }
  }

  /// Closes a batch whose window is over. Returns false if it is closed already.
  private func close(_ batch: Batch) -> Bool {
    self.open.withLock { open in
      guard batch.state.phase == .open else { return false }
      batch.state.phase = .sent
      open.remove(batch)
      return true
    }
  }
}

// MARK: - Sending and leaving

extension BatchQueue {
  /// The first callers of the keys of a batch that is being sent, and the raw value of its priority.
  ///
  /// Keys without a caller are left out. If all callers have left, the batch ends.
  @usableFromInline
  func leaders(of batch: Batch) -> (leaders: [BatchMember], priority: UInt8) {
    let (leaders, priority, timer) = self.open.withLock { _ in
      if batch.state.callerCount == 0 { batch.state.phase = .ended }
      return (batch.leadersInOrder, batch.state.priority, batch.state.timer.take())
    }
    timer?.cancel()
    return (leaders, priority)
  }

  /// Keeps the task of a batch, raises its priority if a caller's was raised meanwhile, and cancels it if all
  /// callers have left meanwhile.
  @usableFromInline
  func keep(_ task: RunTask, of batch: Batch, startedWith priority: UInt8) {
    let (raised, isAbandoned) = self.open.withLock { _ in
      guard batch.state.phase == .sent else { return (priority, false) }
      batch.state.task = task
      return (batch.state.priority, batch.state.callerCount == 0)
    }
    if raised > priority { task.escalatePriority(to: TaskPriority(rawValue: raised)) }
    if isAbandoned { task.cancel() }
  }

  /// Raises the priority of a caller's batch to the caller's.
  @usableFromInline
  func raise(_ member: BatchMember, to priority: TaskPriority) {
    let task = self.open.withLock { _ -> RunTask? in
      guard let batch = member.state.batch, batch.state.priority < priority.rawValue else { return nil }
      batch.state.priority = priority.rawValue
      return batch.state.task
    }
    task?.escalatePriority(to: priority)
  }

  /// Ends a batch. Returns the first callers of its keys, with the others of each key; some may have left.
  ///
  /// From then on nothing changes the callers, so that they can be read without the lock.
  @usableFromInline
  func end(_ batch: Batch) -> [BatchMember] {
    let (leaders, task) = self.open.withLock { _ in (batch.end(), batch.state.task.take()) }
    withExtendedLifetime(task) {}
    return leaders
  }

  /// Lets a caller leave. Returns whether it was waiting, so that it has to be resumed.
  @usableFromInline
  func leave(_ member: BatchMember) -> Bool {
    let (wasWaiting, timer, task, released) = self.open.withLock { open in
      guard let batch = member.state.batch, member.state.phase == .waiting, batch.state.phase != .ended else {
        if member.state.phase == .arriving { member.state.phase = .left }
        return (false, OperationSubscription?.none, RunTask?.none, (Batch, BatchMember)?.none)
      }
      let released = (batch, batch.remove(member))
      member.state.batch = nil
      guard batch.state.callerCount == 0 else { return (true, nil, nil, released) }
      guard batch.state.phase == .open else { return (true, nil, batch.state.task, released) }
      open.remove(batch)
      batch.state.phase = .ended
      return (true, batch.state.timer.take(), nil, released)
    }
    timer?.cancel()
    task?.cancel()
    // Released after unlocking: they own keys of callers.
    withExtendedLifetime(released) {}
    return wasWaiting
  }
}

extension OperationContext {
  /// The context of a request that is made for several callers: what belongs to the run of one of them is left out.
  fileprivate var forBatch: OperationContext {
    var context = self
    context.leaveRun()
    if context.operationDeadline != nil { context.operationDeadline = nil }
    return context
  }
}
