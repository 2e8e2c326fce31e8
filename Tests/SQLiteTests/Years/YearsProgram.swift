#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationBackoff
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationTesting
  import TestFixtures

  /// The arguments of a call, in any version of the program.
  protocol YearsArguments: Codable, Sendable {
    init(_ tokens: YearsTokens)

    var sent: YearsTokens { get }
  }

  /// What a call sends. These are the arguments of the first version.
  struct YearsTokens: YearsArguments {
    var note: Int
    var tokens: [Int]

    init(note: Int, tokens: [Int]) { (self.note, self.tokens) = (note, tokens) }

    init(_ tokens: Self) { self = tokens }

    /// What is in an entry of any version; nil if it cannot be read.
    init?(_ arguments: [UInt8]) {
      let data = Data(arguments)
      let newer = try? JSONDecoder().decode(YearsPageTokens.self, from: data).sent
      guard let found = newer ?? (try? JSONDecoder().decode(Self.self, from: data)) else { return nil }
      self = found
    }

    var sent: Self { self }
  }

  /// The arguments of the second version, whose member has another name.
  struct YearsPageTokens: YearsArguments {
    var page: Int
    var tokens: [Int]

    init(_ tokens: YearsTokens) { (self.page, self.tokens) = (tokens.note, tokens.tokens) }

    var sent: YearsTokens { YearsTokens(note: self.page, tokens: self.tokens) }
  }

  /// What the second version stores of a note, in place of its text.
  struct YearsPage: Codable, Hashable, Sendable {
    var text: String
  }

  /// One start of a program whose calls are merged, replaced, in conflict and expire, in one of two versions.
  struct YearsProgram: Sendable {
    static let notes = 0..<4

    let client: OperationClient
    let journal: MutationJournal
    let network: SwitchSpecification
    let version: Int
    private let calls: [@Sendable (YearsTokens, OperationContext) async throws -> Void]
    private let conflicts: @Sendable () -> [JournalConflict<YearsTokens, Int>]

    /// - Parameters:
    ///   - version: The version of the program.
    ///   - storage: Its storage.
    ///   - server: The server.
    ///   - start: The number of the start.
    ///   - date: The date of the clock.
    ///   - isOnline: Whether there is a network.
    init(
      _ version: Int,
      in storage: any PersistentStorage,
      _ server: YearsServer,
      start: Int,
      at date: Date,
      isOnline: Bool
    ) async {
      self.version = version
      self.network = SwitchSpecification(isOnline)
      server.begin(start)
      var context = OperationContext()
      context.operationClock = ManualClock(date: date)
      context.operationStorage = storage
      self.client = OperationClient(defaultContext: context)
      await self.client.restore()
      let (client, network) = (self.client, self.network)
      let journal = MutationJournal(
        storage: storage,
        resumes: .when(network, backoff: .constant(.milliseconds(1))),
        attemptsBeforeDeadLetter: 50,
        leaseDuration: .milliseconds(100)
      )
      self.journal = journal
      client.journal = journal
      var calls: [@Sendable (YearsTokens, OperationContext) async throws -> Void] = []
      func add<Arguments: YearsArguments>(_ mutation: some MutationRequest<Arguments, Void, any Error>, as name: String)
      {
        let mutation = mutation.deadLetters(.letPass)
        journal.register(mutation, as: name)
        let store = client.store(for: mutation)
        calls.append { try await store.mutate(with: Arguments($0), using: $1) }
      }
      func send<Arguments: YearsArguments>(_ name: String, _ type: Arguments.Type) -> YearsCall<Arguments> {
        YearsCall(server: server, network: network, start: start, path: [name])
      }
      if version == 1 {
        add(
          send("edit", YearsTokens.self).scope("notes")
            .journaled(as: "edit", policy: .merge(by: \.note, Self.join), failsForGood: .where { _ in false }),
          as: "edit"
        )
      } else {
        // Renamed, and with other arguments.
        add(
          send("edit", YearsPageTokens.self).scope("notes")
            .journaled(
              as: "edit-page",
              aliases: ["edit"],
              version: 2,
              policy: .merge(by: \.page, Self.join),
              failsForGood: .where { _ in false },
              migrate: { bytes, _ in YearsPageTokens(try JSONDecoder().decode(YearsTokens.self, from: Data(bytes))) }
            ),
          as: "edit-page"
        )
      }
      add(
        send("message", YearsTokens.self).journaled(as: "message", failsForGood: .where { _ in false })
          .expires(after: .seconds(3_600)),
        as: "message"
      )
      add(
        send("set", YearsTokens.self).scope("settings")
          .journaled(as: "set", policy: .replacePending(by: \.note), failsForGood: .where { _ in false }),
        as: "set"
      )
      let save = send("save", YearsTokens.self).resolvesConflicts(of: YearsConflict.self, Self.resolve).scope("notes")
        .journaled(as: "save", failsForGood: .where { _ in false })
      add(save, as: "save")
      self.calls = calls
      self.conflicts = { journal.conflicts(of: save, as: Int.self) }
    }

    @Sendable private static func join<Arguments: YearsArguments>(_ old: Arguments, _ new: Arguments) -> Arguments {
      Arguments(YearsTokens(note: new.sent.note, tokens: old.sent.tokens + new.sent.tokens))
    }

    @Sendable private static func resolve(
      _ call: ConflictedCall<YearsTokens>,
      _ current: Int
    ) -> ConflictResolution<YearsTokens> {
      switch (call.arguments.tokens.first ?? 0) % 3 {
      case 0: .retry(with: call.arguments, basedOn: "\(current)")
      case 1: .ask(holdingScope: true)
      default: .ask
      }
    }

    /// The kind of the calls that expire.
    static let expiringKind = 1
    /// The kind of the calls that replace others.
    static let replacingKind = 2
    static let kinds = 0..<4

    /// Makes a call of one of the four kinds. The last is based on a version.
    func call(_ kind: Int, _ tokens: YearsTokens, basedOn version: Int) async throws {
      var context = OperationContext()
      if kind == 3 { context.operationBaseVersion = "\(version)" }
      try await self.calls[kind](tokens, context)
    }

    var openConflicts: [JournalConflict<YearsTokens, Int>] { self.conflicts() }

    // MARK: - Values

    private func oldStore(_ note: Int) -> OperationStore<QueryState<String, any Error>> {
      self.client.store(
        for: OperationScript<String, any Error>().query(path: ["note", note]).persisted(as: "note")
      )
    }

    private func newStore(_ note: Int) -> OperationStore<QueryState<YearsPage, any Error>> {
      self.client.store(
        for: OperationScript<YearsPage, any Error>().query(path: ["note", note])
          .persisted(
            as: "page",
            aliases: ["note"],
            version: 2,
            migrate: { bytes, _ in
              try JSONDecoder().decode(StoredValue<String>.self, from: Data(bytes)).map { YearsPage(text: $0) }
            }
          )
      )
    }

    /// The text of a note, as the store shows it that is restored.
    func text(of note: Int) -> String? {
      self.version == 1 ? self.oldStore(note).currentValue : self.newStore(note).currentValue?.text
    }

    func setText(of note: Int, to text: String) {
      if self.version == 1 {
        self.oldStore(note).currentValue = text
      } else {
        self.newStore(note).currentValue = YearsPage(text: text)
      }
    }
  }
#endif
