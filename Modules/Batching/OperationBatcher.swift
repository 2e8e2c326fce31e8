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
/// answers: cache them in the stores of ``BatchedQuery``s.
///
/// - Precondition: `==` and `hash(into:)` of keys and scopes do not call the batcher, which has a lock held meanwhile.
///
/// The idea comes from Facebook's [DataLoader](https://github.com/graphql/dataloader), 2015.
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
  private let number = BatcherNumber.next()

  /// Creates a batcher.
  ///
  /// - Parameters:
  ///   - name: The name of the batcher in the paths of its queries and in notices, without user data. Give each batcher
  ///     of a client another one: queries with equal names and keys have one store. Without a name, a number of the
  ///     process stands in for it.
  ///   - maximumSize: The highest number of keys in a batch, at least 1.
  ///   - window: How long a batch collects keys. A negative duration counts as zero.
  ///   - request: Answers the keys of a batch, of which there is at least one. It runs in a task of its own, on no
  ///     actor, and begins on the thread of the caller that completes the batch, or of the timer. The task has the
  ///     highest priority of the callers, also when that is raised later, and no task-local values. The context is that
  ///     of the first caller, without what belongs to the run of that caller.
  public init(
    name: String? = nil,
    maximumSize: Int = 100,
    window: OperationDuration = .milliseconds(2),
    request: @escaping Request
  ) {
    precondition(maximumSize >= 1, "A batch of at most \(maximumSize) keys is always empty. Pass at least 1.")
    self.name = name
    self.queue = BatchQueue(maximumSize: maximumSize, window: max(window, .zero))
    self.request = request
  }

  /// Loads the value of a key, together with other keys.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - context: The context of the caller: its scope and its deadlines count.
  /// - Returns: The value of the key.
  /// - Throws: The error of the key or of its batch; ``BatchAnswerMissing``; `CancellationError` at once when the task
  ///   is cancelled.
  @inlinable
  public nonisolated(nonsending) func load(
    _ key: Key,
    in context: OperationContext = OperationContext()
  ) async throws -> Value {
    let caller = BatchCaller<Key, Value>(key)
    return try await withTaskPriorityEscalationHandler {
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
    }.get()
  }

  /// What identifies the batcher in the paths of its queries.
  var pathElement: any Hashable & Sendable { self.name ?? self.number }

  @inlinable
  func join(_ caller: BatchCaller<Key, Value>, in context: OperationContext) {
    switch self.queue.join(caller, in: context) {
    case .joined: break
    case .opened(let batch): self.queue.startWindow(of: batch) { self.send($0) }
    case .completed(let batch): self.send(batch)
    case .cancelled: caller.resume(with: .failure(CancellationError()))
    }
  }

  @inlinable
  func send(_ batch: Batch) {
    let (leaders, priority) = self.queue.leaders(of: batch)
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
    let answers: Result<[Key: Result<Value, any Error>], any Error>
    do { answers = .success(try await self.request(keys, batch.context)) } catch { answers = .failure(error) }
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
    for leader in self.queue.end(batch) {
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

/// The error of a key that the answer of its batch does not contain.
public struct BatchAnswerMissing: Error, CustomStringConvertible {
  /// The key.
  public let key: any Hashable & Sendable

  /// Creates an error.
  public init(key: any Hashable & Sendable) {
    self.key = key
  }

  /// The error and its key.
  public var description: String { "The answer of the batch does not contain the key \(self.key)." }
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
