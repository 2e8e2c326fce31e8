public import OperationCore

/// Collects the keys that callers load within a short time, and asks for them together.
///
/// ```swift
/// let authors = OperationBatcher<Author.ID, Author>(maximumSize: 100, window: .milliseconds(2)) { ids, context in
///   let found = try await server.authors(ids)
///   return found.mapValues { .success($0) }
/// }
/// let author = try await authors.load(7)
/// ```
///
/// The first key opens a batch. The batch is sent when its window is over or it has as many keys as fit. A key that
/// several callers load within one window is asked for once. A key without an answer fails alone, with
/// ``BatchAnswerMissing``.
///
/// A caller that is cancelled leaves at once, and takes its key along if the batch is not sent. When all callers have
/// left, the request is cancelled.
///
/// Only callers with the same ``OperationCore/OperationContext/operationBatchScope`` share a batch. A batcher keeps no
/// answers, except those that ``prime(_:with:in:)`` gives it: cache them in the stores of ``BatchedQuery``s.
///
/// ``update(maximumSize:window:maximumConcurrentBatches:maximumWaitingKeys:in:)`` changes the limits while callers wait,
/// and ``snapshot()`` shows what the batcher is doing.
///
/// - Precondition: `==` and `hash(into:)` of keys and scopes do not call the batcher, which has a lock held meanwhile.
///
/// The idea, `prime`, `clear` and the scheduler come from Facebook's
/// [DataLoader](https://github.com/graphql/dataloader), 2015.
public final class OperationBatcher<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Answers the keys of a batch, which are distinct and in the order in which they came. All keys fail
  /// with an error that it throws.
  public typealias Request =
    @Sendable (_ keys: [Key], _ context: OperationContext) async throws -> [Key: Result<
      Value, any Error
    >]

  /// The name of the batcher in paths and notices; nil without a name.
  public let name: String?

  @usableFromInline let queue: BatchQueue
  @usableFromInline let request: Request
  @usableFromInline let primed: PrimedAnswers<Key, Value>
  @usableFromInline let scheduler: (any BatchScheduler)?
  private let number = BatcherNumber.next()

  /// Creates a batcher.
  ///
  /// - Parameters:
  ///   - name: The name of the batcher in the paths of its queries and in notices, without user data. Give each batcher
  ///     of a client another one: queries with equal names and keys have one store. Without a name, a number of the
  ///     process takes its place.
  ///   - maximumSize: The highest number of keys in a batch, at least 1.
  ///   - window: How long a batch collects keys. A negative duration counts as zero.
  ///   - maximumConcurrentBatches: The highest number of batches under way; further ones wait, in the order in which they
  ///     were closed. Nil for no limit. A number below 1 is reported and counts as 1.
  ///   - maximumWaitingKeys: The highest number of keys that have not been sent. A caller of one more key fails at once
  ///     with ``BatchQueueFull``. Nil for no limit. A number below 1 is reported and counts as 1.
  ///   - maximumPrimedKeys: The highest number of answers that ``prime(_:with:in:)`` keeps; the one that was primed first
  ///     is dropped. A number below 1 is reported and counts as 1.
  ///   - request: Answers the keys of a batch, of which there is at least one. It runs in a task of its own, on no
  ///     actor, and begins on the thread of the caller that completes the batch, or of the timer. The task has the
  ///     highest priority of the callers, also when that is raised later, and no task-local values. The context is that
  ///     of the first caller, without what belongs to the run of that caller.
  public convenience init(
    name: String? = nil,
    maximumSize: Int = 100,
    window: OperationDuration = .milliseconds(2),
    maximumConcurrentBatches: Int? = nil,
    maximumWaitingKeys: Int? = nil,
    maximumPrimedKeys: Int = 1_000,
    request: @escaping Request
  ) {
    self.init(
      name,
      scheduler: nil,
      maximumSize,
      window,
      maximumConcurrentBatches,
      maximumWaitingKeys,
      maximumPrimedKeys,
      request
    )
  }

  /// Creates a batcher whose batches are sent when a scheduler says so, and not after a window.
  ///
  /// See ``init(name:maximumSize:window:maximumConcurrentBatches:maximumWaitingKeys:maximumPrimedKeys:request:)``.
  ///
  /// - Parameters:
  ///   - name: The name of the batcher in the paths of its queries and in notices, without user data.
  ///   - maximumSize: The highest number of keys in a batch, at least 1. A batch with as many is sent at once.
  ///   - scheduler: Decides when a batch is sent, such as a ``BatchTick`` at the end of a request.
  ///   - maximumConcurrentBatches: The highest number of batches under way; nil for no limit.
  ///   - maximumWaitingKeys: The highest number of keys that have not been sent; nil for no limit.
  ///   - maximumPrimedKeys: The highest number of answers that ``prime(_:with:in:)`` keeps.
  ///   - request: Answers the keys of a batch. It begins on the thread on which the scheduler sends the batch.
  public convenience init(
    name: String? = nil,
    maximumSize: Int = 100,
    scheduler: some BatchScheduler,
    maximumConcurrentBatches: Int? = nil,
    maximumWaitingKeys: Int? = nil,
    maximumPrimedKeys: Int = 1_000,
    request: @escaping Request
  ) {
    self.init(
      name,
      scheduler: scheduler,
      maximumSize,
      .zero,
      maximumConcurrentBatches,
      maximumWaitingKeys,
      maximumPrimedKeys,
      request
    )
  }

  private init(
    _ name: String?,
    scheduler: (any BatchScheduler)?,
    _ maximumSize: Int,
    _ window: Duration,
    _ maximumConcurrentBatches: Int?,
    _ maximumWaitingKeys: Int?,
    _ maximumPrimedKeys: Int,
    _ request: @escaping Request
  ) {
    precondition(maximumSize >= 1, "A batch of at most \(maximumSize) keys is always empty. Pass at least 1.")
    self.name = name
    self.queue = BatchQueue(
      BatchLimits(
        maximumSize: maximumSize,
        window: window,
        maximumConcurrentBatches: maximumConcurrentBatches,
        maximumWaitingKeys: maximumWaitingKeys
      ),
      title: name.map { "a batch of \($0)" } ?? "a batch"
    )
    self.primed = PrimedAnswers(maximumCount: maximumPrimedKeys.validBatchLimit("maximumPrimedKeys"))
    self.scheduler = scheduler
    self.request = request
  }

  /// Loads the value of a key, together with other keys.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - context: The context of the caller: its scope and its deadlines count.
  /// - Returns: The value of the key.
  /// - Throws: The error of the key or of its batch; ``BatchAnswerMissing``; ``BatchQueueFull``; `CancellationError` at
  ///   once when the task is cancelled.
  @inlinable
  public nonisolated(nonsending) func load(
    _ key: Key,
    in context: OperationContext = OperationContext()
  ) async throws -> Value {
    if !self.primed.isEmpty, let answer = self.primed.answer(for: key, in: context) {
      try Task.checkCancellation()
      return try answer.get()
    }
    let caller = BatchCaller<Key, Value>(key)
    let wait = self.queue.toldWait
    let answer = await withTaskPriorityEscalationHandler {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          caller.continuation = continuation
          self.join(caller, in: context)
        }
      } onCancel: {
        if self.queue.leave(caller) { caller.resume(with: .failure(CancellationError())) }
      }
    } onPriorityEscalated: { _, priority in
      self.queue.raise(caller, to: priority)
    }
    wait?.end()
    if case .failure = answer { self.queue.noteWaitEnded() }
    return try answer.get()
  }

  /// What identifies the batcher in the paths of its queries.
  var pathElement: any Hashable & Sendable { self.name ?? self.number }

  @inlinable
  func join(_ caller: BatchCaller<Key, Value>, in context: OperationContext) {
    let step = self.queue.join(caller, in: context)
    if let cycle = self.queue.leaveIfClosingCycle(caller) { caller.resume(with: .failure(cycle)) }
    switch step {
    case .joined: break
    case .opened(let batch, let window):
      self.queue.startWindow(of: batch, window, scheduler: self.scheduler) { self.send($0) }
    case .completed(let batch): self.send(batch)
    case .cancelled: caller.resume(with: .failure(CancellationError()))
    case .full(let limit): caller.resume(with: .failure(self.rejection(limit, in: context)))
    }
  }

  @inlinable
  func send(_ batch: Batch) {
    let (leaders, priority, next) = self.queue.leaders(of: batch)
    for batch in next { self.send(batch) }
    if leaders.isEmpty { return }
    let keys = leaders.map { BatchCaller<Key, Value>.of($0).key }
    let taskPriority = TaskPriority(rawValue: priority)
    // Like a run, it begins on the thread of the caller: a request that never suspends needs no other thread. Detached,
    // because the request is made for all callers, and must not see the task-local values of one of them.
    let task = RunTask.start(in: batch.context) {
      Task.immediateDetached(priority: taskPriority) { await self.ask(for: keys, of: batch) }
    } enqueuing: { executor in
      Task.detached(executorPreference: executor, priority: taskPriority) { await self.ask(for: keys, of: batch) }
    }
    self.queue.keep(task, of: batch, startedWith: priority)
  }

  @inlinable
  func ask(for keys: [Key], of batch: Batch) async {
    batch.context.send(self.notice(of: keys.count))
    let answers: Result<[Key: Result<Value, any Error>], any Error> = await self.queue.perform(batch) {
      do { return .success(try await self.request(keys, batch.context)) } catch { return .failure(error) }
    }
    self.finish(batch, with: answers)
  }

  @usableFromInline
  func notice(of keyCount: Int) -> OperationNotice {
    var attributes: [String: OperationNotice.Value] = ["batch.size": .integer(keyCount)]
    if let name { attributes["batch.name"] = .string(name) }
    return OperationNotice(.batchSent, attributes: attributes)
  }

  @inlinable
  func finish(_ batch: Batch, with answers: Result<[Key: Result<Value, any Error>], any Error>) {
    let (leaders, next) = self.queue.end(batch)
    defer { for batch in next { self.send(batch) } }
    for leader in leaders {
      let caller = BatchCaller<Key, Value>.of(leader)
      let answer: Result<Value, any Error>
      switch answers {
      case .success(let answers): answer = answers[caller.key] ?? .failure(BatchAnswerMissing(key: caller.key))
      case .failure(let error): answer = .failure(error)
      }
      if caller.isWaiting { caller.resume(with: answer) }
      guard let followers = caller.followers else { continue }
      for follower in followers where follower.isWaiting {
        BatchCaller<Key, Value>.of(follower).resume(with: answer)
      }
    }
  }
}

/// A caller that waits for a key.
@usableFromInline
final class BatchCaller<Key: Hashable & Sendable, Value: Sendable>: BatchMember, @unchecked Sendable {
  // Unchecked because the continuation is written before the caller joins, and read by the one that resumes it.
  @usableFromInline let key: Key
  @usableFromInline var continuation: UnsafeContinuation<Result<Value, any Error>, Never>?

  @inlinable
  init(_ key: Key) {
    self.key = key
    super.init(hash: key.hashValue)
  }

  /// A caller with the types of its batcher.
  @inlinable
  static func of(_ member: BatchMember) -> BatchCaller {
    // All callers of a batcher are of one type.
    unsafeDowncast(member, to: BatchCaller.self)
  }

  @usableFromInline
  override func hasKey(of other: BatchMember) -> Bool { self.key == Self.of(other).key }

  @inlinable
  func resume(with result: Result<Value, any Error>) {
    self.continuation?.resume(returning: result)
  }
}

extension OperationContext {
  /// What callers must have in common to share a batch, such as their credentials; nil by default.
  ///
  /// Callers without a scope share batches with each other only.
  public var operationBatchScope: (any Hashable & Sendable)? {
    get { self[BatchScopeKey.self] }
    set { self[BatchScopeKey.self] = newValue }
  }

  /// Whether callers with this context have a scope of their own.
  var hasBatchScope: Bool { self.isSet(BatchScopeKey.self) }

  private enum BatchScopeKey: Key {
    static var defaultValue: (any Hashable & Sendable)? { nil }
  }
}

extension OperationNotice.Name {
  /// A batch was sent. The attribute `batch.size` is the number of its keys, `batch.name` the name of the batcher.
  public static let batchSent = Self("batch.sent")
}
