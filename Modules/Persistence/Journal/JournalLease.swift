internal import OperationCore
internal import OperationFoundation

/// Takes, renews and releases the leases of a journal, in a storage that processes share.
///
/// The journal takes a lease when there is something to send with it, renews it after a third of its time, and
/// releases it soon after there is nothing left to send. The lease with the name of the journal says that its process
/// lives as long as it has calls: no other journal makes these calls.
final class JournalLease: Sendable {
  /// How long an idle journal keeps a lease, so that a burst of calls takes it once.
  static let linger = Duration.milliseconds(100)
  /// How often a journal that waits for a lease asks for it.
  static let retryInterval = Duration.milliseconds(200)

  private struct State: Sendable {
    var isDriven = false
    var isWoken = false
    var signal: AwaitedOutcome<Void>?
    /// The ends of the held leases, by the deadlines.
    var ends: [JournalLeaseKey: Duration] = [:]
    /// The leases that were taken since the entries were read, each with a number: other processes may have made calls
    /// before.
    var taken: [JournalLeaseKey: Int] = [:]
    var lastTaking = 0
    var idleSince: [JournalLeaseKey: Duration] = [:]
    /// When the leases that are no longer needed are looked for, by the deadlines.
    var idlenessTime: Duration?
    var idlenessTimer: OperationSubscription?
    /// The leases that are being released, with the callers that wait for the end of the release.
    var releasing: [JournalLeaseKey: [AwaitedOutcome<Void>]] = [:]
    /// The leases that are being asked for, with the callers that wait for the answer.
    var acquiring: [JournalLeaseKey: [AwaitedOutcome<Result<StorageLease, any Error>>]] = [:]
    /// The number of releases so far.
    var releaseCount = 0
    /// The time at which the entries were read last.
    var lastReading: Duration?
    var hasReported = false

    /// Whether a lease lasts for longer than a time from now on.
    func lasts(_ leaseKey: JournalLeaseKey, _ time: Duration, at now: Duration) -> Bool {
      self.ends[leaseKey].map { $0 - now > time } ?? false
    }

    mutating func forget(_ leaseKey: JournalLeaseKey) {
      self.ends[leaseKey] = nil
      self.taken[leaseKey] = nil
      self.idleSince[leaseKey] = nil
    }

    mutating func note(_ lease: StorageLease?, of leaseKey: JournalLeaseKey, until end: Duration, at now: Duration) {
      switch lease {
      case .held:
        // If the storage has answered before the end of the lease, the lease was held all the time.
        let isRenewed = self.ends[leaseKey].map { now < $0 } ?? false
        self.ends[leaseKey] = end
        guard !isRenewed else { break }
        self.lastTaking += 1
        self.taken[leaseKey] = self.lastTaking
      case .heldByAnother: self.forget(leaseKey)
      case nil: break
      }
    }

    mutating func signal(ofReleaseOf leaseKey: JournalLeaseKey) -> AwaitedOutcome<Void>? {
      guard self.releasing[leaseKey] != nil else { return nil }
      let signal = AwaitedOutcome<Void>()
      self.releasing[leaseKey]?.append(signal)
      return signal
    }
  }

  let owner: String
  private let storage: any LeasingStorage
  private let duration: Duration
  private let state = Locked(State())

  init(of storage: any LeasingStorage, for duration: Duration) {
    self.storage = storage
    self.duration = duration
    self.owner = LeaseOwner.make()
  }

  /// The leases that were taken and not released.
  var leaseKeys: Set<JournalLeaseKey> { self.state.withLock { Set($0.ends.keys) } }

  /// Whether a lease is held at a time.
  func holds(_ leaseKey: JournalLeaseKey, at now: Duration) -> Bool {
    self.state.withLock { state in state.taken[leaseKey] == nil && state.ends[leaseKey].map { now < $0 } ?? false }
  }

  /// Whether other processes know for longer than a renewal takes that this process lives.
  func lastsLong(at now: Duration) -> Bool {
    self.state.withLock { $0.lasts(.journal(self.owner), self.duration * 2 / 3, at: now) }
  }

  /// Makes the journal take the leases that it needs now, and look a while later for those that it no longer needs.
  ///
  /// A caller with one call after the other needs its lease again at once, so the end of a call wakes no task.
  func note(_ actions: JournalActions, for journal: MutationJournal) {
    if actions.mayRelease { self.awaitIdleness(of: actions.idleLeaseKeys, for: journal) }
    if actions.needsLease { self.wake(for: journal) }
  }

  private func awaitIdleness(of leaseKeys: [JournalLeaseKey], for journal: MutationJournal) {
    let deadlines = journal.deadlines
    let now = deadlines.elapsed
    let time = now + Self.linger
    let begins = self.state.withLock { state in
      for leaseKey in leaseKeys { state.idleSince[leaseKey] = now }
      // The time of other deadlines may be far from this one.
      if let known = state.idlenessTime, now < known, known <= time { return false }
      state.idlenessTime = time
      return true
    }
    guard begins else { return }
    let timer = deadlines.schedule(after: Self.linger) { [weak self, weak journal] in
      if let self, let journal { self.wake(for: journal) }
    }
    self.state.withLock { state, released in
      released.append(state.idlenessTimer)
      state.idlenessTimer = timer
    }
  }

  /// Makes the journal take, renew or release leases, according to its present needs.
  private func wake(for journal: MutationJournal) {
    let (signal, begins) = self.state.withLock { state in
      state.isWoken = true
      defer { state.isDriven = true }
      return (state.signal.take(), !state.isDriven)
    }
    signal?.decide()
    guard begins else { return }
    Task.immediate(name: "lease of journal", executorPreference: journal.executor) { [weak journal] in
      while let wait = await journal?.updateLease(self), let deadlines = journal?.deadlines {
        await self.pause(for: wait, on: deadlines)
      }
      if journal == nil { await self.release(self.leaseKeys) }
    }
  }

  /// Wakes the task that renews the leases, if there is one. The task of a released journal then releases them and ends.
  func endWait() {
    let signal = self.state.withLock { state in
      // The task may be about to wait.
      state.isWoken = true
      return state.signal.take()
    }
    signal?.decide()
  }

  private func pause(for duration: Duration, on deadlines: any DeadlineSource) async {
    let signal = AwaitedOutcome<Void>()
    let isWoken = self.state.withLock { state in
      if !state.isWoken { state.signal = signal }
      defer { state.isWoken = false }
      return state.isWoken
    }
    if isWoken { return }
    let timer = deadlines.schedule(after: duration) { signal.decide() }
    await signal.value()
    timer.cancel()
    self.state.withLock { state in
      state.signal = nil
      state.isWoken = false
    }
  }

  // MARK: - Taking and releasing

  /// The result of asking for leases.
  struct Acquisition: Sendable {
    /// The leases that were held before, and still are.
    var held: Set<JournalLeaseKey> = []
    /// The leases that are held once the entries were read again, with the numbers of their taking.
    var taken: [JournalLeaseKey: Int] = [:]
    /// The leases that other journals have, or that could not be asked for.
    var refused: Set<JournalLeaseKey> = []
    /// How long other journals have leases, unless they renew them.
    var others: [JournalLeaseKey: Duration] = [:]
    /// How long to wait before the refused leases are asked for again.
    var wait = JournalLease.retryInterval
  }

  /// Takes or renews leases.
  nonisolated(nonsending) func acquire(
    _ leaseKeys: Set<JournalLeaseKey>,
    for journal: MutationJournal
  ) async -> Acquisition {
    let deadlines = journal.deadlines
    var acquisition = Acquisition()
    var hasFailed = false
    let ends = self.state.withLock { $0.ends }
    // Held leases come first, because they have an end.
    let known = leaseKeys.filter { ends[$0] != nil }
    for leaseKey in Array(known) + leaseKeys.subtracting(known) {
      switch hasFailed ? nil : try? await self.acquire(leaseKey, for: journal) {
      case .held: break
      case .heldByAnother(let remaining):
        acquisition.others[leaseKey] = remaining
        acquisition.wait = min(acquisition.wait, max(remaining, .milliseconds(1)))
      // If the storage does not answer, the other leases would wait for it.
      case nil: hasFailed = true
      }
      // The deadlines may be user code, which must not be called under the lock.
      let now = deadlines.elapsed
      self.state.withLock { state in
        // If the storage has failed, a held lease still lasts until its end.
        if let end = state.ends[leaseKey], now < end {
          if let taking = state.taken[leaseKey] {
            acquisition.taken[leaseKey] = taking
          } else {
            acquisition.held.insert(leaseKey)
          }
        } else {
          state.forget(leaseKey)
          acquisition.refused.insert(leaseKey)
        }
      }
    }
    return acquisition
  }

  /// Makes other processes know that this one lives, before a call is stored.
  ///
  /// - Throws: The error of a storage that can make no change now, unless they know it for a while.
  nonisolated(nonsending) func keepAlive(for journal: MutationJournal) async throws {
    do {
      _ = try await self.acquire(.journal(self.owner), for: journal)
    } catch {
      let now = journal.deadlines.elapsed
      let isAlive = self.state.withLock { $0.lasts(.journal(self.owner), .zero, at: now) }
      // Storing the call would wait for the same error, one caller after the other.
      if !isAlive, error.asObstacle != nil { throw error }
    }
  }

  /// Takes or renews a lease, unless that was done just before. All that ask for it meanwhile have one answer.
  ///
  /// - Throws: The error of the storage.
  private nonisolated(nonsending) func acquire(
    _ leaseKey: JournalLeaseKey,
    for journal: MutationJournal
  ) async throws -> StorageLease {
    let deadlines = journal.deadlines
    let now = deadlines.elapsed
    let answer = AwaitedOutcome<Result<StorageLease, any Error>>()
    let (isHeld, isFirst) = self.state.withLock { state in
      let isHeld = state.releasing[leaseKey] == nil && state.lasts(leaseKey, self.duration * 2 / 3, at: now)
      if isHeld { return (true, false) }
      defer { state.acquiring[leaseKey, default: []].append(answer) }
      return (false, state.acquiring[leaseKey] == nil)
    }
    if isHeld { return .held }
    if isFirst {
      // In a task of its own: the caller that asks first may be cancelled, and the others wait for the same answer.
      Task.immediate(name: "acquire lease of journal", executorPreference: journal.executor) {
        let result = await self.ask(for: leaseKey, on: deadlines)
        let answers = self.state.withLock { $0.acquiring.removeValue(forKey: leaseKey) ?? [] }
        for answer in answers { answer.decide(result) }
      }
    }
    return try await answer.value().get()
  }

  private nonisolated(nonsending) func ask(
    for leaseKey: JournalLeaseKey,
    on deadlines: any DeadlineSource
  ) async -> Result<StorageLease, any Error> {
    while true {
      // Without this, the release would end the lease that is taken here.
      while let signal = self.state.withLock({ $0.signal(ofReleaseOf: leaseKey) }) { await signal.value() }
      let asked = deadlines.elapsed
      let (isHeld, releases) = self.state.withLock { state in
        (state.lasts(leaseKey, self.duration * 2 / 3, at: asked), state.releaseCount)
      }
      if isHeld { return .success(.held) }
      let result = await self.attempt { try await $0.acquireLease(leaseKey.lease, owner: self.owner, for: $1) }
      let answered = deadlines.elapsed
      let isKnown = self.state.withLock { state in
        let lease = try? result.get()
        // The lease may have been released after it was taken.
        if lease == .held, state.releaseCount != releases { return false }
        state.note(lease, of: leaseKey, until: asked + self.duration, at: answered)
        return true
      }
      if isKnown { return result }
    }
  }

  /// Records that the entries were read after leases were taken. Returns the leases that are held from now on.
  func confirm(_ taken: [JournalLeaseKey: Int], at now: Duration) -> Set<JournalLeaseKey> {
    self.state.withLock { state in
      state.lastReading = now
      let confirmed = taken.filter { state.taken[$0.key] == $0.value }.keys
      for leaseKey in confirmed { state.taken[leaseKey] = nil }
      return Set(confirmed)
    }
  }

  /// Whether a journal that watches the calls of other journals has to read the entries again.
  func isReadingDue(at now: Duration) -> Bool {
    self.state.withLock { state in state.lastReading.map { now - $0 >= self.renewalInterval } ?? true }
  }

  nonisolated(nonsending) func release(_ leaseKeys: Set<JournalLeaseKey>) async {
    let held = self.state.withLock { state in
      let held = leaseKeys.filter { state.ends[$0] != nil }
      for leaseKey in leaseKeys { state.forget(leaseKey) }
      for leaseKey in held { state.releasing[leaseKey] = [] }
      state.releaseCount += held.isEmpty ? 0 : 1
      return held
    }
    for leaseKey in held {
      await self.release(leaseKey)
      for signal in self.state.withLock({ $0.releasing.removeValue(forKey: leaseKey) ?? [] }) { signal.decide() }
    }
  }

  private nonisolated(nonsending) func release(_ leaseKey: JournalLeaseKey) async {
    do {
      try await self.storage.releaseLease(leaseKey.lease, owner: self.owner)
    } catch {
      // A lease ends by itself. A program that ends closes its storage, so this is no failure.
      if (error as? StorageError)?.code != .closed { self.report(error) }
    }
  }

  /// A number that changes when another process has changed entries of the journal; nil if it is not known.
  nonisolated(nonsending) func numberOfForeignChanges() async throws -> Int64? {
    guard let calls = try await self.storage.numberOfForeignChanges(withPrefix: StorageKey.journal),
      let attempts = try await self.storage.numberOfForeignChanges(withPrefix: StorageKey.attempts)
    else { return nil }
    return calls &+ attempts
  }

  /// Which of other journals have a process that lives, and for how long.
  nonisolated(nonsending) func lives(of owners: Set<String>) async -> [String: Duration] {
    var living: [String: Duration] = [:]
    // Many processes may have left calls. The system knows which processes of this machine have ended.
    for owner in owners where owner != self.owner && !LeaseOwner.hasEnded(owner) {
      living[owner] = await self.life(of: owner)
    }
    return living
  }

  /// For how long the process of another journal lives, or a third process makes the calls of that journal, as far as its
  /// lease says so; nil if neither does.
  private nonisolated(nonsending) func life(of other: String) async -> Duration? {
    let leaseKey = JournalLeaseKey.journal(other)
    // This process makes the calls of the other journal.
    if self.leaseKeys.contains(leaseKey) { return nil }
    switch await self.attempt({ try await $0.acquireLease(leaseKey.lease, owner: self.owner, for: $1) }) {
    case .success(.held):
      await self.release(leaseKey)
      return nil
    case .success(.heldByAnother(let rest)): return rest
    // The storage could not say.
    case .failure: return self.duration
    }
  }

  private nonisolated(nonsending) func attempt(
    _ body: nonisolated(nonsending) (any LeasingStorage, Duration) async throws -> StorageLease
  ) async -> Result<StorageLease, any Error> {
    do {
      let lease = try await body(self.storage, self.duration)
      self.state.withLock { $0.hasReported = false }
      return .success(lease)
    } catch {
      self.report(error)
      return .failure(error)
    }
  }

  /// Reports a failure of the storage. The next one is reported only after the storage has worked again.
  private func report(_ error: any Error) {
    let isFirst = self.state.withLock { state in
      defer { state.hasReported = true }
      return !state.hasReported
    }
    if isFirst { OperationWarning.report(storageFailedTo: "take or release a lease of the journal", error) }
  }

  // MARK: - Idleness

  /// Records the leases that are not needed now.
  ///
  /// - Parameters:
  ///   - idle: The leases that are not needed.
  ///   - now: The time.
  /// - Returns: The leases to release, and the time after which the next unneeded lease is released; nil if there is
  ///   none.
  func linger(_ idle: Set<JournalLeaseKey>, at now: Duration) -> (ended: Set<JournalLeaseKey>, rest: Duration?) {
    self.state.withLock { state in
      state.idleSince = Dictionary(
        idle.map { ($0, state.idleSince[$0] ?? now) },
        uniquingKeysWith: { first, _ in first }
      )
      let rests = state.idleSince.mapValues { $0 + Self.linger - now }
      return (Set(rests.filter { $0.value <= .zero }.keys), rests.values.filter { $0 > .zero }.min())
    }
  }

  /// Ends the task that renews the leases, unless the journal needs them again.
  func endDriving() -> Bool {
    self.state.withLock { state in
      if state.isWoken {
        state.isWoken = false
        return false
      }
      state.isDriven = false
      return true
    }
  }

  var renewalInterval: Duration { self.duration / 3 }
}
