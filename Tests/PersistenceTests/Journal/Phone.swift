import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures

/// The arguments of a call of the phone, in any version of the program.
protocol PhoneArguments: Codable, Sendable {
  init(_ tokens: Tokens)

  var sent: Tokens { get }
}

/// What a call of the phone sends.
struct Tokens: PhoneArguments, Hashable {
  var note: Int
  var tokens: [Int]

  init(note: Int, tokens: [Int]) {
    self.note = note
    self.tokens = tokens
  }

  init(_ tokens: Tokens) { self = tokens }

  init(_ entry: JournalEntry) {
    let bytes = Data(entry.arguments)
    let newer = try? JSONDecoder().decode(NewTokens.self, from: bytes).sent
    self = newer ?? (try? JSONDecoder().decode(Self.self, from: bytes)) ?? Self(note: 0, tokens: [])
  }

  var sent: Tokens { self }
}

/// The arguments of the second version of the program, whose member has another name.
struct NewTokens: PhoneArguments {
  var page: Int
  var tokens: [Int]

  init(_ tokens: Tokens) {
    self.page = tokens.note
    self.tokens = tokens.tokens
  }

  var sent: Tokens { Tokens(note: self.page, tokens: self.tokens) }
}

/// What a screen shows: the tokens of a user, those included that are still to be sent.
struct PhoneScreen: Codable, Hashable, Sendable {
  static let path: OperationPath = ["notes"]

  var user: Int
  var tokens: [Int]

  /// The query of a version of the program. The second migrates what the first has stored, and the first leaves what the
  /// second has.
  static func query(in version: Int) -> some QueryRequest<Self, any Error> {
    OperationScript<Self, any Error>().query(path: self.path)
      .persisted(
        as: "notes",
        version: version,
        migrate: { bytes, _ in try JSONDecoder().decode(StoredValue<Self>.self, from: Data(bytes)) }
      )
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
  /// The version of the program.
  let version: Int
  /// What the user sees, and what is stored of it.
  let screen: OperationStore<QueryState<PhoneScreen, any Error>>
  private let calls: [@Sendable (Tokens, OperationContext) async throws -> Void]
  /// The identifiers of the calls that each store shows and that have not ended, and of those that have.
  private let shows: [@Sendable () -> (pending: [String], ended: [String])]
  private let conflicts: @Sendable () -> [JournalConflict<Tokens, Int>]

  init(
    server: PhoneServer,
    storage: InMemoryStorage,
    date: Date,
    generation: Int,
    isOnline: Bool,
    version: Int,
    resolve: @escaping @Sendable (ConflictedCall<Tokens>, Int) -> ConflictResolution<Tokens>
  ) {
    self.storage = PhoneStorage(storage)
    self.clock = ManualClock(date: date)
    self.generation = generation
    self.version = version
    if isOnline { self.network.turnOn() }
    var context = OperationContext()
    context.use(self.clock)
    context.operationStorage = self.storage
    self.client = OperationClient(defaultContext: context, storeCache: KeepingCache())
    self.screen = self.client.store(for: PhoneScreen.query(in: version))
    let counter = KeyCounter()
    self.journal = MutationJournal(
      storage: self.storage,
      resumes: .when(self.network, backoff: .exponential(.seconds(2)).capped(at: .seconds(300))),
      attemptsBeforeDeadLetter: 2,
      makeKey: { "g\(generation)k\(counter.next())" }
    )
    self.client.journal = self.journal
    let (client, journal, network) = (self.client, self.journal, self.network)
    func send<Arguments: PhoneArguments>(_ name: String, _ type: Arguments.Type) -> PhoneCall<Arguments> {
      PhoneCall(server: server, network: network, generation: generation, path: [name])
    }
    var calls: [@Sendable (Tokens, OperationContext) async throws -> Void] = []
    var shows: [@Sendable () -> (pending: [String], ended: [String])] = []
    func add<Arguments: PhoneArguments>(_ call: some MutationRequest<Arguments, Void, any Error>, as name: String) {
      let mutation = call.deadLetters(.letPass)
        .optimistic(on: PhoneScreen.path, of: QueryState<PhoneScreen, any Error>.self) {
          $0?.tokens += $1.sent.tokens
        }
      let store = client.store(for: mutation)
      journal.register(mutation, as: name)
      calls.append { try await store.mutate(with: Arguments($0), using: $1) }
      shows.append {
        let calls = store.state.journaledCalls
        return (calls.filter { !$0.status.isEnded }.map(\.id), calls.filter(\.status.isEnded).map(\.id))
      }
    }
    @Sendable func join<Arguments: PhoneArguments>(_ old: Arguments, _ new: Arguments) -> Arguments {
      Arguments(Tokens(note: new.sent.note, tokens: old.sent.tokens + new.sent.tokens))
    }
    if version == 1 {
      add(
        send("edit", Tokens.self).scope("notes")
          .journaled(as: "edit", policy: .merge(by: \.note) { join($0, $1) }, failsForGood: .where { _ in false }),
        as: "edit"
      )
    } else {
      // Renamed, and with other arguments.
      add(
        send("edit", NewTokens.self).scope("notes")
          .journaled(
            as: "edit-page",
            aliases: ["edit"],
            version: 2,
            policy: .merge(by: \.page) { join($0, $1) },
            failsForGood: .where { _ in false },
            migrate: { bytes, _ in NewTokens(try JSONDecoder().decode(Tokens.self, from: Data(bytes))) }
          ),
        as: "edit-page"
      )
    }
    add(
      send("message", Tokens.self).journaled(as: "message", failsForGood: .where { _ in false })
        .expires(after: .seconds(3_600)),
      as: "message"
    )
    add(
      send("set", Tokens.self).scope("notes")
        .journaled(as: "set", policy: .replacePending(by: \.note), failsForGood: .where { _ in false }),
      as: "set"
    )
    let save = send("save", Tokens.self).resolvesConflicts(of: PhoneConflict.self) { resolve($0, $1) }.scope("notes")
      .journaled(as: "save", failsForGood: .where { _ in false })
    add(save, as: "save")
    (self.calls, self.shows) = (calls, shows)
    self.conflicts = { journal.conflicts(of: save, as: Int.self) }
  }

  /// Makes a call of one of the four kinds.
  func call(_ kind: Int, _ arguments: Tokens, basedOn version: Int?) async throws {
    var context = OperationContext()
    context.operationBaseVersion = version.map { "\($0)" }
    try await self.calls[kind](arguments, context)
  }

  var openConflicts: [JournalConflict<Tokens, Int>] { self.conflicts() }

  /// The identifiers of the calls that stores show as not ended.
  var shownPending: [String] { self.shows.flatMap { $0().pending } }
  /// The identifiers of all calls that stores show.
  var shown: Set<String> { Set(self.shows.flatMap { $0().pending + $0().ended }) }

  /// The tokens of the calls in the journal.
  var storedTokens: Set<Int> { Set(self.journal.entries.flatMap { Tokens($0).tokens }) }
}
