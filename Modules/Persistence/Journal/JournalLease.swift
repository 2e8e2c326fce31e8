internal import OperationCore
internal import OperationFoundation

/// The right to send calls, which one journal has among all processes that share a storage.
///
/// The journal takes it when something is to be sent, renews it at a third of its time, and releases it soon after
/// nothing is left. A second lease, named after the journal, says that its process lives: nobody else makes its calls.
final class JournalLease: Sendable {
  /// How long an idle journal keeps the leases, so that a burst of calls takes them once.
  static let linger = Duration.milliseconds(100)
  /// How often a journal that waits for the lease asks for it.
  static let retryInterval = Duration.milliseconds(200)

  private struct State: Sendable {
    var isDriven = false
    var isWoken = false
    var signal: AwaitedOutcome<Void>?
    /// When the right to send ends, by the deadlines; nil if it is not held.
    var end: Duration?
    /// When the sign of life ends; nil if there is none.
    var presenceEnd: Duration?
    var idleSince: Duration?
    var hasReported = false
  }

  let owner: String
  private let storage: any LeasingStorage
  private let duration: Duration
  private let state = Locked(State())

  init(of storage: any LeasingStorage, for duration: Duration) {
    self.storage = storage
    self.duration = duration
    self.owner = UUID().uuidString
  }

  private static let name = "journal"

  private static func presence(of owner: String) -> String { "journal/\(owner)" }

  /// Whether the right to send is held at a time.
  func isHeld(at now: Duration) -> Bool { self.state.withLock { $0.end.map { now < $0 } ?? false } }

  /// Makes the journal take, renew or release the leases, as it needs them now.
  func wake(for journal: MutationJournal) {
    let (signal, begins) = self.state.withLock { state in
      state.isWoken = true
      defer { state.isDriven = true }
      return (state.signal.take(), !state.isDriven)
    }
    signal?.decide()
    guard begins else { return }
    Task.immediate(name: "lease of journal") { [weak journal] in
      while let wait = await journal?.updateLease(self), let deadlines = journal?.deadlines {
        await self.pause(for: wait, on: deadlines)
      }
      guard journal == nil else { return }
      await self.release()
      await self.endPresence()
    }
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

  /// Shows that the process lives, for the time of a lease.
  nonisolated(nonsending) func showPresence(at now: Duration) async {
    let isFresh = self.state.withLock { ($0.presenceEnd ?? .zero) - now > self.duration * 2 / 3 }
    if isFresh { return }
    let lease = await self.attempt {
      try await $0.acquireLease(Self.presence(of: self.owner), owner: self.owner, for: $1)
    }
    if lease == .held { self.state.withLock { $0.presenceEnd = now + self.duration } }
  }

  /// Takes or renews the right to send. Returns how long to wait if another journal has it.
  nonisolated(nonsending) func acquire(at now: Duration) async -> Acquisition {
    let (end, isFresh) = self.state.withLock { state in
      (state.end, (state.end ?? .zero) - now > self.duration * 2 / 3)
    }
    if isFresh { return .held }
    switch await self.attempt({ try await $0.acquireLease(Self.name, owner: self.owner, for: $1) }) {
    case .held:
      self.state.withLock { $0.end = now + self.duration }
      return end.map { now < $0 } ?? false ? .held : .taken
    case .heldByAnother(let remaining):
      self.state.withLock { $0.end = nil }
      return .refused(min(max(remaining, .milliseconds(1)), Self.retryInterval))
    case nil:
      // The storage has failed. The lease lasts until its end.
      if let end, now < end { return .held }
      self.state.withLock { $0.end = nil }
      return .refused(Self.retryInterval)
    }
  }

  enum Acquisition {
    /// It was held before, and still is.
    case held
    /// It is held now, and was not.
    case taken
    case refused(Duration)
  }

  nonisolated(nonsending) func release() async {
    let wasHeld = self.state.withLock { $0.end.take() != nil }
    if wasHeld { await self.release(Self.name) }
  }

  nonisolated(nonsending) func endPresence() async {
    let wasShown = self.state.withLock { $0.presenceEnd.take() != nil }
    if wasShown { await self.release(Self.presence(of: self.owner)) }
  }

  private nonisolated(nonsending) func release(_ name: String) async {
    do {
      try await self.storage.releaseLease(name, owner: self.owner)
    } catch {
      // It ends by itself. A program that has closed its storage is about to end, too.
      if (error as? StorageError)?.code != .closed { self.report(error) }
    }
  }

  /// Whether the process of another journal lives.
  nonisolated(nonsending) func isAlive(_ other: String) async -> Bool {
    let name = Self.presence(of: other)
    guard case .held? = await self.attempt({ try await $0.acquireLease(name, owner: self.owner, for: $1) })
    else { return true }
    await self.release(name)
    return false
  }

  private nonisolated(nonsending) func attempt(
    _ body: nonisolated(nonsending) (any LeasingStorage, Duration) async throws -> StorageLease
  ) async -> StorageLease? {
    do {
      let lease = try await body(self.storage, self.duration)
      self.state.withLock { $0.hasReported = false }
      return lease
    } catch {
      self.report(error)
      return nil
    }
  }

  /// Reports a failure of the storage, once until it works again.
  private func report(_ error: any Error) {
    let isFirst = self.state.withLock { state in
      defer { state.hasReported = true }
      return !state.hasReported
    }
    if isFirst { OperationWarning.report(storageFailedTo: "take or release the lease of the journal", error) }
  }

  // MARK: - Idleness

  /// How long an idle journal still keeps the leases; nil if that time is over.
  func remainingLinger(at now: Duration) -> Duration? {
    self.state.withLock { state in
      let since = state.idleSince ?? now
      state.idleSince = since
      let remaining = since + Self.linger - now
      return remaining > .zero ? remaining : nil
    }
  }

  func isBusy() {
    self.state.withLock { $0.idleSince = nil }
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
