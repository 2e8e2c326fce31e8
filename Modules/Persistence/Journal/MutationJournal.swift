public import OperationCore
internal import OperationFoundation

/// Stores the calls of mutations until they have ended, so that a call is made even if the process ends first.
///
/// ```swift
/// let journal = MutationJournal(storage: storage)
/// client.journal = journal
/// journal.register(RenameNote().scope("notes").journaled(as: "rename-note"), as: "rename-note")
/// await journal.resume()
/// ```
///
/// A call of a mutation with `.journaled(as:)` is stored before it runs, and removed when it has succeeded or failed
/// for good. After a restart, the calls that are left are made again, by the journal itself or by ``resume()``, in the
/// same order within each scope. They have the same ``OperationCore/OperationContext/operationIdempotencyKey``, by
/// which the server can recognize a repeated call.
///
/// The client's observers of notices, such as metrics and logs, receive the end of each call and the number of calls to
/// make: see ``OperationCore/OperationNotice/Name/journalPending``.
///
/// Three kinds of entries are kept and reported: entries that cannot be read, entries of names that are not registered,
/// and dead letters.
public final class MutationJournal: OperationClientFlushable {
  let storage: any PersistentStorage
  let makeKey: @Sendable () -> String
  let state: Locked<JournalState>
  /// The leases, in a storage that processes share.
  let lease: JournalLease?
  let registrations = Locked<[String: JournalRegistration]>([:])
  let changes = Broadcast<Void>(())
  let showingStores = Locked(ShowingStores())
  let condition = Locked(JournalCondition())
  /// The subscriptions to the conditions that schedules wait for, by the names of the schedules.
  let scheduleConditions = Locked<[String: [OperationSubscription]]>([:])
  let resumes: Resuming?
  let unregistered: UnregisteredCalls
  private let client = Locked(WeakClient())

  /// How many times a call may fail, or end the process, before it becomes a dead letter.
  ///
  /// A failure counts if the whole call has failed, after all retries of its mutation, and stays in the journal. If the
  /// process ends during a body, that counts as a failure, too. Not counted are starts of the program, waits before and
  /// between attempts, cancellations, and failures that pass by themselves: failed connections, time limits, rejections
  /// in this process, for example by a circuit breaker, and errors that say so by ``/OperationCore/RetryClassifying`` or
  /// ``/OperationCore/RetryHinting``. A call that only fails like that is given up by its age: see
  /// ``ageBeforeDeadLetter``.
  public let attemptsBeforeDeadLetter: Int

  /// How old a call may be that fails in ways that pass by themselves: at the first such failure after that it becomes a
  /// dead letter.
  ///
  /// The age counts from the acceptance of the call, or from its last `retry(_:)`. A call with `expires(after:)` has the
  /// time of its own instead.
  public let ageBeforeDeadLetter: Duration

  private struct WeakClient: Sendable {
    weak var value: OperationClient?
  }

  /// Creates a journal. Two journals of one storage share their entries: use one in a process.
  ///
  /// - Parameters:
  ///   - storage: The storage of the entries.
  ///   - resumes: When the journal makes unfinished calls again. If it is nil, it does so while the network is
  ///     connected, if the client observes the network, as clients of the module `Operation` do outside of tests.
  ///     Otherwise only ``resume()`` makes them.
  ///   - attemptsBeforeDeadLetter: How many times a call may fail, or end the process, before it becomes a dead letter,
  ///     including earlier starts of the program: see ``attemptsBeforeDeadLetter``. Nil stands for 5. A
  ///     number below 1 is reported and counts as 1.
  ///   - ageBeforeDeadLetter: How old a call may be that only fails in ways that pass by themselves: see
  ///     ``ageBeforeDeadLetter``. Seven days by default.
  ///   - unregistered: What becomes of stored calls with a name that no mutation is registered with. They stay by
  ///     default.
  ///   - maximumConcurrentCalls: How many calls without a scope are made again at once. A number below 1 is reported and
  ///     counts as 1.
  ///   - maximumConcurrentScopes: In how many scopes calls are made again at once, one call in each. Scopes with a
  ///     waiting caller do not count. A number below 1 is reported and counts as 1.
  ///   - leaseDuration: How long other processes with the same storage wait for this process after its death, if the
  ///     storage is a ``LeasingStorage``. A lease is renewed after a third of this time.
  ///   - makeKey: Makes the idempotency key of a call; nil for random ones. Keys must be unique.
  public init(
    storage: any PersistentStorage,
    resumes: Resuming? = nil,
    attemptsBeforeDeadLetter: Int? = nil,
    ageBeforeDeadLetter: Duration = .seconds(7 * 86_400),
    unregistered: UnregisteredCalls = .hold,
    maximumConcurrentCalls: Int = 8,
    maximumConcurrentScopes: Int = 64,
    leaseDuration: Duration = .seconds(5),
    makeKey: (@Sendable () -> String)? = nil
  ) {
    self.storage = storage
    self.resumes = resumes
    self.unregistered = unregistered
    self.makeKey = makeKey ?? { JournalKey.random() }
    self.attemptsBeforeDeadLetter = max(1, attemptsBeforeDeadLetter ?? 5)
    self.ageBeforeDeadLetter = ageBeforeDeadLetter
    let lease = storage.sharedLeases.map { JournalLease(of: $0, for: leaseDuration.clampedForClock) }
    self.lease = lease
    var state = JournalState(
      maximumReplays: max(1, maximumConcurrentCalls),
      maximumScopes: max(1, maximumConcurrentScopes)
    )
    state.owner = lease?.owner
    state.leases.held = lease == nil ? nil : []
    self.state = Locked(state)
    if let attemptsBeforeDeadLetter, attemptsBeforeDeadLetter < 1 {
      OperationWarning(
        code: .invalidArgument,
        message: """
          A call cannot become a dead letter after \(attemptsBeforeDeadLetter) attempts. It does after 1; pass 1 or more.
          """
      ).report()
    }
    for limit in [maximumConcurrentCalls, maximumConcurrentScopes] where limit < 1 {
      OperationWarning(
        code: .invalidArgument,
        message: "A journal cannot make \(limit) calls at once. It makes 1; pass 1 or more."
      ).report()
    }
    // A storage that does not suspend has answered when this returns.
    Task.immediate(name: "read journal") { [weak self] in try? await self?.load() }
    if case .specification? = resumes?.condition { self.beginResuming() }
  }

  deinit {
    // The task that renews the leases would otherwise keep them until it wakes by itself: never, if the deadlines of the
    // client have ended with it.
    self.lease?.endWait()
  }

  /// The client with the stores that make calls again; nil if there is none, or if it was released.
  var boundClient: OperationClient? { self.client.withLock { $0.value } }

  /// The executor that tasks of the journal prefer; runs of the client prefer the same one.
  var executor: (any TaskExecutor)? { self.boundClient?.defaultContext.operationTaskConfiguration.executorPreference }

  func bind(to client: OperationClient, replacing: Bool) {
    let isNew = self.client.withLock { bound, released in
      let known = bound.value
      released.append(known)
      let isNew = known !== client && (replacing || known == nil)
      if isNew { bound.value = client }
      return isNew
    }
    if replacing { self.state.withLock { $0.reportedCount = nil } }
    self.reportPendingCount()
    guard isNew else { return }
    self.watchExpiry(anew: true)
    self.stop(with: client)
    self.beginResuming()
    self.checkSchedules()
  }

  func noteChange() {
    // This also happens without subscribers, because a subscriber that receives the entries for the first time is not
    // counted yet.
    self.changes.send(())
    self.reportPendingCount()
  }
}

extension OperationClient {
  /// The journal of the client's mutations.
  ///
  /// Set it at the start of the program. If none was set, a journal with the storage of the client's context is made at
  /// the first use.
  public var journal: MutationJournal {
    get {
      if let journal = self.attachment(of: MutationJournal.self) { return journal }
      let journal = self.attachment { MutationJournal(storage: self.storageForJournal) }
      journal.bind(to: self, replacing: false)
      self.journaledStores.attach(to: journal)
      return journal
    }
    set {
      self.attach(newValue)
      newValue.bind(to: self, replacing: true)
      self.journaledStores.attach(to: newValue)
    }
  }

  /// Reads the entries of the journal, if there is one.
  nonisolated(nonsending) func loadJournal() async {
    guard let journal = self.attachment(of: MutationJournal.self) else { return }
    do { try await journal.load() } catch { OperationWarning.report(storageFailedTo: "read the journal", error) }
  }

  private var storageForJournal: any PersistentStorage {
    if let storage = self.defaultContext.operationStorage { return storage }
    OperationWarning(
      code: .noStorage,
      message: """
        The journal of a client was used, and there is no storage for it: its calls are lost when the process ends. \
        Set `operationStorage` in the context of the client, or its `journal`.
        """
    ).report()
    return InMemoryStorage()
  }
}

extension OperationContext {
  /// The key of the call of a journaled mutation, the same for all its attempts, also after a restart.
  ///
  /// Send it to the server, so that the server can recognize a repeated call. It is nil in other operations. To choose
  /// the key yourself, set it in the context of a call: it must be unique.
  public var operationIdempotencyKey: String? {
    get { self[IdempotencyKeyKey.self] }
    set { self[IdempotencyKeyKey.self] = newValue }
  }

  private enum IdempotencyKeyKey: Key {
    static let defaultValue: String? = nil
  }
}
