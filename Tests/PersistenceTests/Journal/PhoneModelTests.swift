import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Random days of a phone: offline, killed, with a clock that is changed, with a full disk, and a server that fails.
///
/// Each call has a token. However the days go, each token that was accepted has reached the server, was replaced by a
/// later one, is in front of the user, or is still to be sent; and no token is sent twice by one start of the program.
@Suite(.warningsAreIssues) struct PhoneModelTests {
  @Test(arguments: 0..<ModelRuns.count(usual: 40)) func `Every accepted call is sent, merged, or in front of the user`(
    seed: Int
  ) async throws {
    let days = PhoneDays(seed: UInt64(seed))
    let reporter: OperationWarning.Reporter = { days.receive($0) }
    await OperationWarning.withReporter(reporter) {
      for _ in 0..<60 { await days.step() }
      await days.end()
    }
    #expect(days.problems == [], "seed \(seed)")
    #expect(days.lost == [], "seed \(seed): \(days.summary)")
    #expect(days.unfinished == [], "seed \(seed): \(days.summary)")
  }
}

extension PhoneModelTests {
  @Test func `The random days have merged calls, expired ones, dead letters, full disks and restarts`() async {
    var seen: Set<String> = []
    for seed in 0..<20 {
      let days = PhoneDays(seed: UInt64(seed))
      let reporter: OperationWarning.Reporter = { days.receive($0) }
      await OperationWarning.withReporter(reporter) {
        for _ in 0..<60 { await days.step() }
        await days.end()
      }
      seen.formUnion(days.seen)
    }
    #expect(seen == ["merged", "journalCallExpired", "journalDeadLetter", "notAccepted", "restarted", "repeated"])
  }
}

/// How many random schedules a model test runs: more with `MODEL_SCHEDULES`, such as `MODEL_SCHEDULES=10000`.
enum ModelRuns {
  static func count(usual: Int) -> Int {
    max(usual, ProcessInfo.processInfo.environment["MODEL_SCHEDULES"].flatMap { Int($0) } ?? 0)
  }
}

/// The phone, its user, and the server, of one seed.
private final class PhoneDays: Sendable {
  struct State: Sendable {
    var random: SeededGenerator
    var lastToken = 0
    var accepted: Set<Int> = []
    /// For calls that replace others: the tokens of each note, in order.
    var settings: [Int: [Int]] = [:]
    var removed: Set<Int> = []
    var reported: Set<String> = []
    var problems: [String] = []
    var seen: Set<String> = []
    var calls: [Task<Void, any Error>] = []
  }

  let state: Locked<State>
  let server: PhoneServer
  let phone: Locked<Phone>

  init(seed: UInt64) {
    self.state = Locked(State(random: SeededGenerator(seed: seed)))
    self.server = PhoneServer(seed: seed &+ 1_000_000)
    self.phone = Locked(
      Phone(
        server: self.server,
        storage: InMemoryStorage(),
        date: Date(timeIntervalSinceReferenceDate: 0),
        generation: 0,
        isOnline: false
      )
    )
  }

  private func random(_ range: Range<Int>) -> Int { self.state.withLock { Int.random(in: range, using: &$0.random) } }

  private var current: Phone { self.phone.withLock { $0 } }

  var problems: [String] { self.state.withLock { $0.problems } + self.server.problems }

  /// What has happened in these days.
  var seen: Set<String> { self.state.withLock { $0.seen }.union(self.server.seen) }

  func receive(_ warning: OperationWarning) {
    switch warning.code {
    case .journalCallExpired, .journalDeadLetter:
      self.state.withLock { state in
        state.reported.insert(warning.message)
        state.seen.insert("\(warning.code)")
      }
    case .storageFailed: break
    default: self.state.withLock { $0.problems.append("\(warning)") }
    }
  }

  // MARK: - Steps

  func step() async {
    let phone = self.current
    let choice = self.random(0..<14)
    switch choice {
    case 0...5: self.call(phone)
    case 6: phone.clock.advance(by: .seconds(self.random(1..<4_000)))
    case 7: phone.clock.advance(by: .seconds(self.random(1..<40)))
    case 8:
      phone.network.turnOn()
      phone.network.change()
    case 9:
      phone.network.turnOff()
      phone.network.change()
    case 10: await self.restart()
    case 11: phone.storage.setFull(self.random(0..<3) == 0)
    case 12: phone.clock.setDate(phone.clock.now() + Double(self.random(-7_200..<7_200)))
    default: await self.decide(phone)
    }
    await self.current.journal.settled()
  }

  private func call(_ phone: Phone) {
    let (kind, note) = (self.random(0..<3), self.random(0..<3))
    let token = self.state.withLock { state in
      state.lastToken += 1
      return state.lastToken
    }
    let arguments = Tokens(note: note, tokens: [token])
    let call = Task.immediate { try await phone.call(kind, arguments) }
    // The storage answers at once, so the call is accepted by now, or is not.
    let isAccepted = phone.storedTokens.contains(token) || self.server.begun.contains(token)
    self.state.withLock { state in
      if isAccepted {
        state.accepted.insert(token)
        if kind == 2 { state.settings[note, default: []].append(token) }
      } else {
        state.seen.insert("notAccepted")
      }
      state.calls.append(call)
    }
    if self.random(0..<4) == 0 { call.cancel() }
  }

  /// The process is killed, and the program is started again.
  private func restart() async {
    let phone = self.current
    let entries = await phone.storage.kill()
    phone.network.turnOff()
    self.server.endGeneration(phone.generation)
    let next = Phone(
      server: self.server,
      storage: InMemoryStorage(entries: entries),
      date: phone.clock.now(),
      generation: phone.generation + 1,
      isOnline: self.random(0..<2) == 0
    )
    self.phone.withLock { $0 = next }
    for call in self.state.withLock({ $0.calls }) { call.cancel() }
    self.state.withLock { state in
      state.calls = []
      state.seen.insert("restarted")
    }
  }

  /// The user looks at what is set aside.
  private func decide(_ phone: Phone) async {
    guard let entry = phone.journal.entries.first(where: { $0.status == .expired || $0.status == .deadLetter }) else {
      return
    }
    if self.random(0..<2) == 0 {
      // Not awaited: the call may wait for the server.
      Task.immediate { await phone.journal.retry(entry.id) }
    } else if await phone.journal.remove(entry.id) {
      self.state.withLock { $0.removed.formUnion(Tokens(entry).tokens) }
    }
  }

  /// Makes everything well, and waits until nothing is left to be sent.
  func end() async {
    self.server.recover()
    self.current.storage.setFull(false)
    await self.restart()
    let phone = self.current
    phone.network.turnOn()
    phone.network.change()
    for _ in 0..<40 {
      await phone.journal.settled()
      phone.clock.advance(by: .seconds(400))
    }
    await phone.journal.settled()
  }

  // MARK: - What is left

  private var aside: [JournalEntry] {
    self.current.journal.entries.filter { $0.status == .expired || $0.status == .deadLetter }
  }

  /// The accepted tokens of which nothing is known any more.
  var lost: [Int] {
    let known = self.server.done.union(self.aside.flatMap { Tokens($0).tokens })
      .union(self.current.journal.entries.flatMap { Tokens($0).tokens })
    let (accepted, removed, settings) = self.state.withLock { ($0.accepted, $0.removed, $0.settings) }
    let replaced = settings.values.flatMap { $0.dropLast() }
    return accepted.subtracting(known).subtracting(removed).subtracting(replaced).sorted()
  }

  /// The calls that are neither sent nor set aside, and those set aside without a report.
  var unfinished: [String] {
    let entries = self.current.journal.entries
    let pending = entries.filter { $0.status != .expired && $0.status != .deadLetter }
    let reports = self.state.withLock { $0.reported }
    let silent = self.aside.filter { entry in !reports.contains { $0.contains("key \(entry.id) ") } }
    return (pending + silent).map(\.description)
  }

  var summary: String {
    "done \(self.server.done.sorted()), accepted \(self.state.withLock { $0.accepted }.sorted()), entries \(self.current.journal.entries)"
  }
}

private struct Tokens: Codable, Hashable, Sendable {
  var note: Int
  var tokens: [Int]

  init(note: Int, tokens: [Int]) {
    self.note = note
    self.tokens = tokens
  }

  init(_ entry: JournalEntry) {
    self = (try? JSONDecoder().decode(Self.self, from: Data(entry.arguments))) ?? Self(note: 0, tokens: [])
  }
}

/// One start of the program.
private struct Phone: Sendable {
  let storage: PhoneStorage
  let clock: ManualClock
  let client: OperationClient
  let journal: MutationJournal
  let network = NetworkSwitch()
  let generation: Int
  private let stores: [OperationStore<MutationState<Tokens, Void, any Error>>]

  init(server: PhoneServer, storage: InMemoryStorage, date: Date, generation: Int, isOnline: Bool) {
    self.storage = PhoneStorage(storage)
    self.clock = ManualClock(date: date)
    self.generation = generation
    if isOnline { self.network.turnOn() }
    var context = OperationContext()
    context.use(self.clock)
    self.client = OperationClient(defaultContext: context, storeCache: KeepingCache())
    let counter = KeyCounter()
    self.journal = MutationJournal(
      storage: self.storage,
      resumes: .when(self.network, backoff: .exponential(.seconds(2)).capped(at: .seconds(300))),
      attemptsBeforeDeadLetter: 2,
      makeKey: { "g\(generation)k\(counter.next())" }
    )
    self.client.journal = self.journal
    let network = self.network
    let send: @Sendable (String) -> PhoneCall = { name in
      PhoneCall(server: server, network: network, generation: generation, path: [name])
    }
    let joining = JournalPolicy<Tokens>.merge(by: \.note) { Tokens(note: $1.note, tokens: $0.tokens + $1.tokens) }
    let edit = send("edit").scope("notes").journaled(as: "edit", policy: joining, failsForGood: { _ in false })
    let message = send("message").journaled(as: "message", failsForGood: { _ in false }).expires(after: .seconds(3_600))
    let setting = send("set").scope("notes")
      .journaled(as: "set", policy: .replacePending(by: \.note), failsForGood: { _ in false })
    self.stores = [
      self.client.store(for: edit), self.client.store(for: message), self.client.store(for: setting),
    ]
    self.journal.register(edit, as: "edit")
    self.journal.register(message, as: "message")
    self.journal.register(setting, as: "set")
  }

  func call(_ kind: Int, _ arguments: Tokens) async throws {
    try await self.stores[kind].mutate(with: arguments)
  }

  /// The tokens of the calls in the journal.
  var storedTokens: Set<Int> { Set(self.journal.entries.flatMap { Tokens($0).tokens }) }
}

/// A storage whose disk can be full, and whose process can be killed.
private final class PhoneStorage: PersistentStorage {
  private struct State: Sendable {
    var isFull = false
    var isDead = false
  }

  private let base: InMemoryStorage
  private let state = Locked(State())

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  func setFull(_ isFull: Bool) { self.state.withLock { $0.isFull = isFull } }

  func kill() async -> [StorageEntry] {
    self.state.withLock { $0.isDead = true }
    return (try? await self.base.entries(withPrefix: "")) ?? []
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
    let (isFull, isDead) = self.state.withLock { ($0.isFull, $0.isDead) }
    // What a dead process does is not seen.
    if isDead { return }
    let puts = batch.contains { if case .put = $0 { true } else { false } }
    if isFull, puts { throw StorageError(code: .full, message: "The disk is full.") }
    try await self.base.apply(batch)
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}

/// A server that does each key once, fails at random, and whose answers may be lost.
private final class PhoneServer: Sendable {
  private struct State: Sendable {
    var random: SeededGenerator
    var isWell = false
    var keys: Set<String> = []
    var begun: Set<Int> = []
    var done: Set<Int> = []
    /// The tokens that a start of the program knows to be done.
    var answered: Set<Int> = []
    var generation = 0
    var problems: [String] = []
    var seen: Set<String> = []
  }

  private let state: Locked<State>

  init(seed: UInt64) {
    self.state = Locked(State(random: SeededGenerator(seed: seed)))
  }

  var seen: Set<String> { self.state.withLock { $0.seen } }
  var begun: Set<Int> { self.state.withLock { $0.begun } }
  var done: Set<Int> { self.state.withLock { $0.done } }
  var problems: [String] { self.state.withLock { $0.problems } }

  func recover() { self.state.withLock { $0.isWell = true } }

  func endGeneration(_ generation: Int) {
    self.state.withLock { state in
      state.generation = generation + 1
      state.answered = []
    }
  }

  func receive(_ tokens: [Int], key: String?, from generation: Int, isOnline: Bool) throws {
    try self.state.withLock { state in
      // A process that was killed sends nothing.
      guard generation == state.generation else { throw Away() }
      state.begun.formUnion(tokens)
      if tokens.count > 1 { state.seen.insert("merged") }
      if let twice = tokens.first(where: { state.answered.contains($0) }) {
        state.problems.append("The token \(twice) was sent again with the key \(key ?? "").")
      }
      guard isOnline else { throw Away() }
      let luck = state.isWell ? 9 : Int.random(in: 0..<10, using: &state.random)
      if luck == 0 { throw Away() }
      if luck == 1 { throw Refused() }
      if let key, !state.keys.insert(key).inserted {
        // The repeated call is done already.
        state.seen.insert("repeated")
      } else {
        state.done.formUnion(tokens)
      }
      // The answer is lost.
      if luck == 2 { throw Away() }
      state.answered.formUnion(tokens)
    }
  }
}

private struct PhoneCall: MutationRequest {
  let server: PhoneServer
  let network: NetworkSwitch
  let generation: Int
  let path: OperationPath

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Tokens,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try self.server.receive(
      arguments.tokens,
      key: context.operationIdempotencyKey,
      from: self.generation,
      isOnline: self.network.isSatisfied(in: context)
    )
  }
}

/// A connection that has failed, which says nothing about the call.
private struct Away: LocalRejection {}
