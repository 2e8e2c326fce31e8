import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures

/// What a call of the phone sends.
struct Tokens: Codable, Hashable, Sendable {
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
struct Phone: Sendable {
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
final class PhoneStorage: PersistentStorage {
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
