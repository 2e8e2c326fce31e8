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
    case opened(Batch, window: Duration)
    /// The caller waits, and its key completes the batch, which the caller has to send.
    case completed(Batch)
    /// The caller was cancelled before it joined.
    case cancelled
    /// As many keys wait as may.
    case full(limit: Int)
  }

  /// The batcher in the names of a cycle.
  let title: String
  let open: Mutex<OpenBatches>

  struct OpenBatches: @unchecked Sendable {
    // Unchecked because the scopes, whose types are erased, are Sendable.
    var limits: BatchLimits
    /// The batch of the callers without a scope, which most callers are.
    private var unscoped: Batch?
    private var scoped: [AnyHashable: Batch] = [:]
    private(set) var ready = ReadyBatches()
    /// The batches under way.
    private(set) var sent: [ObjectIdentifier: Batch] = [:]
    /// The number of keys in open and ready batches.
    var waitingKeyCount = 0
    var counts = BatchCounts()

    init(_ limits: BatchLimits) {
      self.limits = limits
    }

    var count: Int { self.scoped.count + (self.unscoped == nil ? 0 : 1) }

    subscript(scope: AnyHashable?) -> Batch? {
      get { if let scope { self.scoped[scope] } else { self.unscoped } }
      set { if let scope { self.scoped[scope] = newValue } else { self.unscoped = newValue } }
    }

    mutating func remove(_ batch: Batch) {
      if self[batch.scope] === batch { self[batch.scope] = nil }
      if batch.state.phase == .ready { self.ready.remove(batch) }
    }

    /// Closes an open batch. Returns whether it is to be sent now.
    mutating func close(_ batch: Batch) -> Bool {
      self.remove(batch)
      guard self.sent.count < self.limits.maximumConcurrentBatches else {
        batch.state.phase = .ready
        self.ready.append(batch)
        return false
      }
      self.send(batch)
      return true
    }

    private mutating func send(_ batch: Batch) {
      batch.state.phase = .sent
      self.sent[ObjectIdentifier(batch)] = batch
      self.waitingKeyCount -= batch.state.leaders.count
      self.counts.note(batch.state.leaders.count)
    }

    /// Ends a batch that was sent.
    mutating func endSent(_ batch: Batch) {
      self.sent[ObjectIdentifier(batch)] = nil
    }

    /// Takes the ready batches that may be sent now.
    mutating func takeReady() -> [Batch] {
      let count = min(max(self.limits.maximumConcurrentBatches - self.sent.count, 0), self.ready.count)
      guard count > 0 else { return [] }
      let batches = (0..<count).compactMap { _ in self.ready.popFirst() }
      for batch in batches { self.send(batch) }
      return batches
    }
  }

  @usableFromInline
  init(_ limits: BatchLimits, title: String) {
    self.title = title
    self.open = Mutex(OpenBatches(limits))
  }

  /// The number of batches that collect keys.
  @usableFromInline var openCount: Int { self.open.withLock { $0.count } }
}

// MARK: - Changing

extension BatchQueue {
  /// Changes the limits. Returns what they were and are, and the batches that the caller has to send.
  func update(
    _ change: (inout BatchLimits) -> Void
  ) -> (earlier: BatchLimits, current: BatchLimits, batches: [Batch]) {
    self.open.withLock { open in
      let earlier = open.limits
      change(&open.limits)
      return (earlier, open.limits, open.takeReady())
    }
  }

  /// What the batcher is doing.
  var numbers: BatchNumbers {
    self.open.withLock { open in
      BatchNumbers(
        limits: open.limits,
        counts: open.counts,
        openBatches: open.count,
        readyBatches: open.ready.count,
        sentBatches: open.sent.count,
        waitingKeys: open.waitingKeyCount
      )
    }
  }
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
    let scope = context.batchScope
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
    let (known, mayAddKey) = (open[scope], open.waitingKeyCount < open.limits.maximumWaitingKeys)
    let batch = known ?? (mayAddKey ? self.batch(of: scope, context, open.limits) : nil)
    guard let batch, let isFirst = batch.add(member, mayAddKey: mayAddKey) else {
      open.counts.rejections &+= 1
      return .full(limit: open.limits.maximumWaitingKeys)
    }
    guard isFirst else { return .joined }
    open.waitingKeyCount += 1
    if batch.state.leaders.count >= open.limits.maximumSize { return open.close(batch) ? .completed(batch) : .joined }
    if known != nil { return .joined }
    open[scope] = batch
    return .opened(batch, window: open.limits.window)
  }

  private func batch(of scope: AnyHashable?, _ context: OperationContext, _ limits: BatchLimits) -> Batch {
    Batch(scope: scope, context: context.forBatch, maximumSize: limits.maximumSize, of: self)
  }

  /// Starts the window of a batch.
  ///
  /// - Parameters:
  ///   - batch: The batch, which the caller has opened.
  ///   - window: How long the batch collects keys, without a scheduler.
  ///   - scheduler: Decides when the batch is closed; nil for the end of the window.
  ///   - send: Sends the batch when it is closed.
  @usableFromInline
  func startWindow(
    of batch: Batch,
    _ window: Duration,
    scheduler: (any BatchScheduler)?,
    send: @escaping @Sendable (Batch) -> Void
  ) {
    // Not weak, which would make each use of the queue and the batch slower: the timer is cancelled with the last caller.
    let close: @Sendable () -> Void = { if self.close(batch) { send(batch) } }
    let timer =
      scheduler?.schedule(in: batch.context, close)
      ?? batch.context.operationDeadlines.schedule(after: window, close)
    let isObsolete = self.open.withLock { _ in
      guard batch.state.phase == .open else { return true }
      batch.state.timer = timer
      return false
    }
    if isObsolete { timer.cancel() }
  }

  /// Closes a batch whose window is over. Returns whether it is to be sent now.
  private func close(_ batch: Batch) -> Bool {
    self.open.withLock { open in
      guard batch.state.phase == .open else { return false }
      return open.close(batch)
    }
  }
}

// MARK: - Waiting

extension BatchQueue {
  /// The batch that a caller waits for; nil if it waits for none.
  func batch(of member: BatchMember) -> Batch? { self.open.withLock { _ in member.state.batch } }

  /// The batches one of which has to end before a batch can be sent; none for one that can, or was.
  func batchesBefore(_ batch: Batch) -> [Batch] {
    self.open.withLock { open in
      guard batch.state.isWaiting, open.sent.count >= open.limits.maximumConcurrentBatches else { return [] }
      return Array(open.sent.values)
    }
  }
}

// MARK: - Sending and leaving

extension BatchQueue {
  /// The first callers of the keys of a batch that is being sent, and the raw value of its priority.
  ///
  /// Keys without a caller are left out. If all callers have left, the batch ends, and the batches that may be sent in
  /// its place are returned.
  @usableFromInline
  func leaders(of batch: Batch) -> (leaders: [BatchMember], priority: UInt8, next: [Batch]) {
    let (leaders, priority, timer, next) = self.open.withLock { open in
      var next: [Batch] = []
      if batch.state.callerCount == 0 {
        batch.state.phase = .ended
        open.endSent(batch)
        next = open.takeReady()
      }
      return (batch.leadersInOrder, batch.state.priority, batch.state.timer.take(), next)
    }
    timer?.cancel()
    return (leaders, priority, next)
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

  /// Ends a batch. Returns the first callers of its keys, with the others of each key; some may have left. Also returns
  /// the batches that may be sent in its place.
  ///
  /// From then on nothing changes the callers, so that they can be read without the lock.
  @usableFromInline
  func end(_ batch: Batch) -> (leaders: [BatchMember], next: [Batch]) {
    let (leaders, task, next) = self.open.withLock { open in
      open.endSent(batch)
      return (batch.end(), batch.state.task.take(), open.takeReady())
    }
    withExtendedLifetime(task) {}
    return (leaders, next)
  }

  /// Lets a caller leave. Returns whether it was waiting, so that it has to be resumed.
  @usableFromInline
  func leave(_ member: BatchMember) -> Bool {
    let (wasWaiting, timer, task, released) = self.open.withLock { open in
      guard let batch = member.state.batch, member.state.phase == .waiting, batch.state.phase != .ended else {
        if member.state.phase == .arriving { member.state.phase = .left }
        return (false, OperationSubscription?.none, RunTask?.none, (Batch, BatchMember)?.none)
      }
      let keyCount = batch.state.leaders.count
      let released = (batch, batch.remove(member))
      if batch.state.isWaiting { open.waitingKeyCount -= keyCount - batch.state.leaders.count }
      member.state.batch = nil
      guard batch.state.callerCount == 0 else { return (true, nil, nil, released) }
      guard batch.state.isWaiting else { return (true, nil, batch.state.task, released) }
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
  /// The scope of the caller with this context; nil without one.
  var batchScope: AnyHashable? { self.hasBatchScope ? self.operationBatchScope.map { AnyHashable($0) } : nil }

  /// The context of a request that is made for several callers: what belongs to the run of one of them is left out.
  fileprivate var forBatch: OperationContext {
    var context = self
    context.leaveRun()
    if context.operationDeadline != nil { context.operationDeadline = nil }
    return context
  }
}
