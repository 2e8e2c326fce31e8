public import OperationCore
internal import Synchronization

/// The open batches of a batcher, without the types of its keys and values.
///
/// Keys and scopes are compared by code of the user, so not under the lock: a caller that finds candidates with the
/// same hash compares them without the lock, and then tries again with the results.
@usableFromInline
final class BatchQueue: Sendable {
  /// What a caller has found out about the candidates.
  @usableFromInline
  struct Comparisons {
    var scopes: [ObjectIdentifier: Bool] = [:]
    var keys: [ObjectIdentifier: Bool] = [:]
    // An object that was compared stays alive, so that no other gets its identifier.
    var compared: [AnyObject] = []
    /// The candidates that the next `compare` asks for.
    @usableFromInline var candidates: [BatchMember] = []

    @usableFromInline
    init() {}

    mutating func note(_ batch: Batch, isOf scope: (any Hashable & Sendable)?) {
      let isSame = batch.scope.map { other in scope.map { AnyHashable($0) == AnyHashable(other) } ?? false }
      self.scopes[ObjectIdentifier(batch)] = isSame ?? false
      self.compared.append(batch)
    }

    @usableFromInline
    mutating func note(_ candidate: BatchMember, hasKey: Bool) {
      self.keys[ObjectIdentifier(candidate)] = hasKey
      self.compared.append(candidate)
    }
  }

  @usableFromInline
  enum Step {
    /// The caller waits.
    case joined
    /// The caller waits, and has opened the batch, whose window it has to start.
    case opened(Batch)
    /// The caller waits, and its key completes the batch, which the caller has to send.
    case completed(Batch)
    /// The keys of the candidates have to be compared.
    case compare
    /// The caller was cancelled before it joined.
    case cancelled
  }

  private enum Attempt {
    case joined
    case opened(Batch)
    case completed(Batch)
    case compareScopes([Batch])
    case compareKeys([BatchMember])
    case cancelled
  }

  private let maximumSize: Int
  private let window: Duration
  private let open = Mutex(OpenBatches())

  private struct OpenBatches: Sendable {
    /// The batch of the callers without a scope, which most callers are.
    var unscoped: Batch?
    var scoped: [Batch] = []

    mutating func remove(_ batch: Batch) {
      if self.unscoped === batch { self.unscoped = nil } else { self.scoped.removeAll { $0 === batch } }
    }
  }

  @usableFromInline
  init(maximumSize: Int, window: Duration) {
    self.maximumSize = maximumSize
    self.window = window
  }

  /// The number of batches that collect keys.
  @usableFromInline var openCount: Int { self.open.withLock { $0.scoped.count + ($0.unscoped == nil ? 0 : 1) } }
}

// MARK: - Joining

extension BatchQueue {
  /// Joins the open batch of the scope, or opens one.
  ///
  /// - Parameters:
  ///   - member: The caller.
  ///   - context: The context of the caller.
  ///   - comparisons: What the caller has found out before; nil if nothing.
  /// - Returns: Whether the caller waits now, and what it has to do next.
  @usableFromInline
  func join(
    _ member: BatchMember,
    in context: OperationContext,
    _ comparisons: inout Comparisons?
  ) -> Step {
    let scope = context.hasBatchScope ? context.operationBatchScope : nil
    let scopeHash = scope.map { AnyHashable($0).hashValue } ?? 0
    let priority = Task.currentPriority.rawValue
    while true {
      let known = comparisons
      let attempt = self.open.withLock { open in
        let attempt = self.attempt(member, in: context, scope, scopeHash, known, &open)
        if let batch = member.state.batch { batch.state.priority = max(batch.state.priority, priority) }
        return attempt
      }
      switch attempt {
      case .cancelled: return .cancelled
      case .completed(let batch): return .completed(batch)
      case .joined: return .joined
      case .opened(let batch): return .opened(batch)
      case .compareKeys(let candidates):
        var noted = comparisons ?? Comparisons()
        noted.candidates = candidates
        comparisons = noted
        return .compare
      case .compareScopes(let batches):
        var noted = comparisons ?? Comparisons()
        for batch in batches { noted.note(batch, isOf: scope) }
        comparisons = noted
      }
    }
  }

  private func attempt(
    _ member: BatchMember,
    in context: OperationContext,
    _ scope: (any Hashable & Sendable)?,
    _ scopeHash: Int,
    _ comparisons: Comparisons?,
    _ open: inout OpenBatches
  ) -> Attempt {
    guard member.state.phase == .arriving else { return .cancelled }
    var batch = open.unscoped
    if scope != nil {
      let candidates = open.scoped.filter { $0.scopeHash == scopeHash }
      let unknown = candidates.filter { comparisons?.scopes[ObjectIdentifier($0)] == nil }
      guard unknown.isEmpty else { return .compareScopes(unknown) }
      batch = candidates.first { comparisons?.scopes[ObjectIdentifier($0)] == true }
    }
    guard let batch else {
      let batch = Batch(scope: scope, scopeHash: scopeHash, context: context.forBatch, maximumSize: self.maximumSize)
      return self.open(batch, member, &open)
    }
    var unknown: [BatchMember]?
    var slot = batch.state.index.start(of: member.hash)
    while let candidate = batch.state.index.next(of: member.hash, from: &slot, among: batch.state.leaders) {
      switch comparisons?.keys[ObjectIdentifier(candidate)] {
      case true?:
        batch.add(member, after: candidate)
        return .joined
      case false?: continue
      case nil: unknown = (unknown ?? []) + [candidate]
      }
    }
    if let unknown { return .compareKeys(unknown) }
    batch.add(member)
    guard batch.state.keyCount >= self.maximumSize else { return .joined }
    batch.state.phase = .sent
    open.remove(batch)
    return .completed(batch)
  }

  private func open(_ batch: Batch, _ member: BatchMember, _ open: inout OpenBatches) -> Attempt {
    batch.add(member)
    guard self.maximumSize > 1 else {
      batch.state.phase = .sent
      return .completed(batch)
    }
    if batch.scope == nil { open.unscoped = batch } else { open.scoped.append(batch) }
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
      return (batch.state.leaders.compactMap(\.self), batch.state.priority, batch.state.timer.take())
    }
    timer?.cancel()
    return (leaders, priority)
  }

  /// Keeps the task of a batch, raises its priority if that of a caller was raised meanwhile, and cancels it if all
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

  /// Raises the priority of a caller's batch to that of the caller.
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
