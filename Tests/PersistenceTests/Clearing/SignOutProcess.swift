import OperationCore
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures

/// The storage of several processes, and what is known of it. The text of each value begins with the number of its user.
///
/// The first user is the first; each removal of all values that begins makes room for the next one.
final class SignOutWorld: Sendable {
  struct State: Sendable {
    var random: SeededGenerator
    var user = 1
    /// The last user who has signed out. Nothing is left of this user, nor of the users before.
    var gone = 0
    var lastNumber = 0
    /// The users of the values that are written and must stay, by the texts of their keys.
    var kept: [Int: Int] = [:]
    var problems: [String] = []
    var seen: Set<String> = []
  }

  let base = InMemoryStorage()
  let isSealed: Bool
  private let state: Locked<State>

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.isSealed = random.next() % 4 == 0
    self.state = Locked(State(random: random))
  }

  func change<R: Sendable>(_ body: (inout State) -> R) -> R { self.state.withLock { body(&$0) } }

  func random(_ count: Int) -> Int { self.change { Int($0.random.next() % UInt64(count)) } }

  /// The storage of a process: all of them have one base.
  func storage() -> any LeasingStorage {
    self.isSealed ? SealedStorage(self.base, key: TestKey(1)) : self.base
  }

  /// The text that a user sets or fetches.
  func text(of user: Int) -> String {
    self.change { state in
      state.lastNumber += 1
      return "U\(user)X\(state.lastNumber)"
    }
  }

  static func user(of text: String) -> Int { Int(text.dropFirst().prefix { $0 != "X" }) ?? 0 }
}

/// The turns of a process: it works until it has done what it was to do, or waits in its storage for its next turn.
final class SignOutTurns: Sendable {
  private struct State: Sendable {
    var isOver = true
    var isDead = false
    var held: [UnsafeContinuation<Void, Never>] = []
    var waiter: UnsafeContinuation<Void, Never>?
  }

  private let state = Locked(State())
  private let world: SignOutWorld

  init(_ world: SignOutWorld) { self.world = world }

  var isOver: Bool { self.state.withLock { $0.isOver } }
  var isDead: Bool { self.state.withLock { $0.isDead } }

  /// Begins something, and waits until it has ended or waits for the next turn.
  func begin(_ body: @escaping @Sendable () async -> Void) async {
    self.state.withLock { $0.isOver = false }
    Task.immediate {
      await body()
      let waiter = self.state.withLock { state in
        state.isOver = true
        return state.waiter.take()
      }
      waiter?.resume()
    }
    await self.wait()
  }

  /// Goes on with what waits.
  func resume() async {
    let held = self.state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
    await self.wait()
  }

  /// Ends the process. What it still does has no effect.
  func end() async {
    self.state.withLock { $0.isDead = true }
    while !self.isOver { await self.resume() }
  }

  private func wait() async {
    await withUnsafeContinuation { continuation in
      let isDue = self.state.withLock { state in
        if state.isOver || !state.held.isEmpty { return true }
        state.waiter = continuation
        return false
      }
      if isDue { continuation.resume() }
    }
  }

  /// Waits for the next turn, or not. Returns whether the process lives.
  nonisolated(nonsending) func pass(oneOf count: Int = 6) async -> Bool {
    if !self.isOver, !self.isDead, self.world.random(count) == 0 {
      await withUnsafeContinuation { continuation in
        let waiter = self.state.withLock { state in
          state.held.append(continuation)
          return state.waiter.take()
        }
        waiter?.resume()
      }
    }
    return !self.isDead
  }
}

/// The storage as one process sees it.
final class SignOutStorage: LeasingStorage {
  struct State: Sendable {
    /// The users whose eras it has read, or begun, first and last.
    var first: Int?
    var known: Int? { didSet { self.first = self.first ?? self.known } }
    /// How many writes, or reads, fail.
    var failures = 0
    var hasFailed = false
  }

  let state = Locked(State())
  private let world: SignOutWorld
  private let turns: SignOutTurns
  private let base: any LeasingStorage

  init(_ world: SignOutWorld, _ turns: SignOutTurns) {
    (self.world, self.turns, self.base) = (world, turns, world.storage())
  }

  private func takeFailure() -> (any Error)? {
    let fails = self.state.withLock { state in
      guard state.failures > 0 else { return false }
      state.failures -= 1
      state.hasFailed = true
      return true
    }
    guard fails, !self.turns.isDead else { return nil }
    let errors: [any Error] = [
      StorageError(code: .busy, message: "busy"), StorageError(code: .full, message: "full"), Broken(),
    ]
    return errors[self.world.random(3)]
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    guard await self.turns.pass() else { return [] }
    if self.world.random(3) == 0, let error = self.takeFailure() { throw error }
    let entries = try await self.base.entries(withPrefix: prefix)
    if prefix == "epoch/" { self.state.withLock { $0.known = self.world.change { $0.user } } }
    return await self.turns.pass() ? entries : []
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    guard await self.turns.pass() else { return .made }
    let error = self.takeFailure()
    if let error, self.world.random(2) == 0 { throw error }
    let outcome = try await self.base.apply(batch, if: conditions)
    if outcome == .made, batch.contains(where: { if case .put("epoch/=era", _) = $0 { true } else { false } }) {
      let user = self.world.change { state in
        state.user += 1
        return state.user
      }
      self.state.withLock { $0.known = user }
    }
    // Its answer is lost.
    if let error {
      _ = self.world.change { $0.seen.insert("answer lost") }
      throw error
    }
    if case .refused = outcome { _ = self.world.change { $0.seen.insert("refused") } }
    _ = await self.turns.pass()
    return outcome
  }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease { .held }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {}

  nonisolated(nonsending) func close() async {}
}

/// One process, and the user that its program believes in.
final class SignOutProcess: Sendable {
  /// What it does. While it restores or flushes, and waits in its storage, nothing else of it runs.
  enum Work { case nothing, signOut, restoreOrFlush, other }

  struct State: Sendable {
    /// The user since the process has read the storage for the first time, or has heard of a removal.
    var user: Int?
    /// Whether a removal has failed, which the program tries again before it does anything else.
    var isSigningOut = false
    var stores: [Int: TextStore] = [:]
    /// What was set since the last flush, by the texts of the paths.
    var changed: Set<Int> = []
    var work = Work.nothing
    var subscription: OperationSubscription?
  }

  let number: Int
  let world: SignOutWorld
  let turns: SignOutTurns
  let storage: SignOutStorage
  let program: Program
  let state = Locked(State())

  init(_ number: Int, _ world: SignOutWorld) {
    (self.number, self.world, self.turns) = (number, world, SignOutTurns(world))
    self.storage = SignOutStorage(world, self.turns)
    self.program = Program(self.storage)
    let subscription = self.program.client.onNotice { [weak self] notice in
      if notice.name == .storageCleared { self?.heard() }
    }
    self.state.withLock { $0.subscription = subscription }
  }

  /// The user is the one of the era that the process has read.
  private func heard() {
    _ = self.world.change { $0.seen.insert("heard") }
    let known = self.storage.state.withLock { $0.known }
    self.state.withLock { state in
      state.user = known
      state.changed = []
    }
    // Stores that are made now show nothing of before.
    let other = Program(self.storage, clock: self.program.clock)
    for number in 0..<3 {
      guard let known, let text = other.client.store(for: self.query(number)).currentValue else { continue }
      if (1..<known).contains(SignOutWorld.user(of: text)) { self.world.report("\(self.number) shows \(text) anew") }
    }
  }

  private func query(_ number: Int) -> some QueryRequest<String, any Error> {
    let path: OperationPath = number < 3 ? ["text", number] : ["U\(number - 3)X"]
    return Fetch(path: path, process: self).stale(after: .seconds(60))
      .persisted(as: "text", maximumAge: number == 2 ? .seconds(1_000_000) : nil)
  }

  /// Whether a value may be set, or invalidated, in the middle of its work.
  func isStill(_ number: Int?) -> Bool {
    self.state.withLock { state in
      state.work == .restoreOrFlush && state.stores[number ?? (state.user ?? 0) + 3] != nil
    }
  }

  /// The store of a number: the first three are of all users, and the others of one.
  private func store(_ number: Int) -> TextStore {
    if let store = self.state.withLock({ $0.stores[number] }) { return store }
    let store = self.program.client.store(for: self.query(number))
    self.state.withLock { $0.stores[number] = store }
    return store
  }

  private struct Fetch: QueryRequest {
    let path: OperationPath
    weak let process: SignOutProcess?

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<String, any Error>
    ) async throws -> String {
      guard let process = self.process else { throw Refused() }
      // A run that does not know the era is of no user, and is not stored once one has signed out.
      let first = process.storage.state.withLock { $0.first } ?? 0
      let user = process.state.withLock { $0.user } ?? first
      let text = process.world.text(of: user)
      guard await process.turns.pass(oneOf: 2) else { throw Refused() }
      return text
    }
  }

  // MARK: - What it does

  private func begin(_ work: Work, _ body: @escaping @Sendable (SignOutProcess) async -> Void) async {
    self.state.withLock { $0.work = work }
    await self.turns.begin {
      await body(self)
      for store in self.state.withLock({ Array($0.stores.values) }) {
        for level in store.context.storeLevels { await level.restored() }
      }
      await self.program.client.persistence.settled()
      self.state.withLock { $0.work = .nothing }
      // The first read of the storage.
      let first = self.storage.state.withLock { $0.first }
      self.state.withLock { $0.user = $0.user ?? first }
    }
  }

  func signOut() async {
    let user = self.world.change { $0.user }
    self.state.withLock { $0.isSigningOut = true }
    await self.begin(.signOut) { process in
      guard (try? await process.program.client.clearEverything()) != nil, !process.turns.isDead else { return }
      process.world.change { state in
        state.seen.insert("signed out")
        state.gone = max(state.gone, user)
      }
      let known = process.storage.state.withLock { $0.known }
      process.state.withLock { state in
        state.user = known
        state.isSigningOut = false
        state.stores = [:]
        state.changed = []
      }
    }
  }

  func restore() async {
    await self.begin(.restoreOrFlush) { process in
      let (user, known) = (process.world.change { $0.user }, process.state.withLock { $0.user })
      let failed = process.hasFailed
      await process.program.client.restore()
      guard known == nil || known == user, !process.turns.isDead, process.hasFailed == failed, !failed else { return }
      await process.world.checkRemoval(of: user, by: process.number)
    }
  }

  /// Whether something has failed since the last flush that was complete.
  private var hasFailed: Bool { self.storage.state.withLock { $0.hasFailed } }

  func flush() async {
    await self.begin(.restoreOrFlush) { process in
      let (user, changed) = process.state.withLock { ($0.user, $0.changed) }
      let failed = process.hasFailed
      let isWritten = await process.program.client.persistence.flush()
      guard !process.turns.isDead else { return }
      let isCurrent = process.world.change { $0.user } == user
      if !isWritten {
        // What was left out is not tried again.
        process.state.withLock { $0.changed = [] }
        guard isCurrent, !process.hasFailed else { return }
        return process.world.report("\(process.number) has not written \(changed.sorted()) of the user \(user ?? 0)")
      }
      process.storage.state.withLock { if $0.failures == 0 { $0.hasFailed = false } }
      process.state.withLock { $0.changed.subtract(changed) }
      guard isCurrent, !failed, let user else { return }
      process.world.change { state in for number in changed { state.kept[number] = user } }
      if !changed.isEmpty { await process.world.checkRemoval(of: user, by: process.number) }
    }
  }

  func limit() async {
    await self.begin(.other) { $0.program.client.persistence.limits = StorageLimits(maximumRows: 2) }
  }

  func fetch(_ number: Int) async {
    await self.begin(.other) { process in
      let store = process.store(number)
      _ = try? await store.fetch()
    }
  }

  func advance(by duration: Duration) async {
    await self.begin(.other) { $0.program.clock.advance(by: duration) }
  }

  /// Does something at once.
  func act(_ body: @escaping @Sendable (SignOutProcess) -> Void) async { await self.begin(.other) { body($0) } }

  /// Sets a value, if the program knows its user and does not sign out. The store is made before: a process may hear of a removal when
  /// it makes one.
  func set(_ number: Int?) {
    let (user, isSigningOut) = self.state.withLock { ($0.user, $0.isSigningOut) }
    guard let user, !isSigningOut else { return }
    let number = number ?? user + 3
    let isNew = self.state.withLock { $0.stores[number] == nil }
    let store = self.store(number)
    if isNew { return }
    store.currentValue = self.world.text(of: user)
    self.state.withLock { _ = $0.changed.insert(number) }
  }

  func invalidate(_ number: Int?) {
    let (user, isSigningOut) = self.state.withLock { ($0.user, $0.isSigningOut) }
    guard let user, !isSigningOut else { return }
    self.program.client.invalidate(matching: number.map { ["text", $0] } ?? ["U\(user)X"])
  }

  /// The texts that its stores show.
  var shown: [String] { self.state.withLock { Array($0.stores.values) }.compactMap { $0.currentValue } }

  func end() async {
    await self.turns.end()
    self.state.withLock { $0.stores = [:] }
  }
}

extension SignOutWorld {
  func report(_ problem: String) { self.change { $0.problems.append(problem) } }

  var entries: [StorageEntry] {
    get async { (try? await self.storage().entries(withPrefix: "")) ?? [] }
  }

  /// A process that knows the era of a user has finished the removals before.
  func checkRemoval(of user: Int, by process: Int) async {
    // Another one may have begun since.
    for entry in await self.entries where entry.key.hasPrefix("value/") && max(1, entry.userInText ?? user) < user {
      self.report("\(process) has left \(entry.text), before the user \(user)")
    }
  }

  /// Looks for what is left of users who have signed out, and for what is lost.
  func check(hasLimits: Bool) async {
    let (user, gone, kept) = self.change { ($0.user, $0.gone, $0.kept) }
    let entries = await self.entries
    for entry in entries {
      let text = entry.text
      for former in 0..<(gone + 1) where gone > 0 && text.contains("U\(former)X") {
        self.report("\(text) is left of the user \(former), of \(gone) who have signed out")
      }
    }
    if hasLimits || self.change({ $0.user }) != user { return }
    for (number, owner) in kept where owner == user {
      let path = number < 3 ? "value/stext/i\(number)/" : "value/sU\(number - 3)X/"
      if !entries.contains(where: { $0.key.hasPrefix(path) }) { self.report("\(path) of the user \(user) is lost") }
    }
  }
}

extension StorageEntry {
  var text: String { "\(self.key): \(String(decoding: self.value, as: UTF8.self))" }

  /// The user of the value; nil if it has none.
  var userInText: Int? {
    String(decoding: self.value, as: UTF8.self).firstMatch(of: /U([0-9]+)X/).flatMap { Int($0.1) }
  }
}
