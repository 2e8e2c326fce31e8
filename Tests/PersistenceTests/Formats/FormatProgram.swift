import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPagination
import OperationPausing
import OperationPersistence
import OperationTesting
import Testing

/// A program that stores values and calls of each kind, and reads them in a later start.
struct FormatProgram {
  /// A coder whose bytes are no text.
  struct ReversingCoder: StorageCoder {
    func encode(_ value: some Encodable) throws -> [UInt8] {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return [0xFF] + (try encoder.encode(value)).reversed()
    }

    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
      try JSONDecoder().decode(type, from: Data(bytes.dropFirst().reversed()))
    }
  }

  struct Text: Codable, Hashable, Sendable, Identifiable {
    let id: Int
  }

  struct Pages: PaginatedRequest {
    let initialPageId = 0
    var path: OperationPath { ["pages"] }

    func pageId(after page: Page<Int, String>, using paging: Paging<Int, String>, in context: OperationContext) -> Int?
    {
      page.id < 3 ? page.id + 1 : nil
    }

    func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<Int, String>,
      in context: OperationContext,
      with continuation: OperationContinuation<String, any Error>
    ) async throws -> String {
      "page \(paging.pageId)"
    }
  }

  let program: Program
  let server = Server()
  private let network = NetworkSwitch()

  init(_ entries: [StorageEntry] = []) {
    self.program = Program(InMemoryStorage(entries: entries))
  }

  // MARK: - Values

  var bytes: OperationStore<QueryState<Text, any Error>> {
    let query = OperationScript<Text, any Error>().query(path: ["bytes"])
      .persisted(as: "bytes", version: 3, coder: ReversingCoder())
    return self.program.client.store(for: query)
  }

  var pages: OperationStore<PaginatedState<Int, String, any Error>> {
    self.program.client.store(for: Pages().persisted(as: "pages"))
  }

  func writeValues() async throws -> [StorageEntry] {
    self.program.store(Script(), 1).currentValue = "plain"
    self.program.store(Script(), 2).currentValue = "invalidated"
    self.program.client.invalidate(matching: ["text", 2])
    self.program.store(Script(), 3, version: 4).currentValue = "later"
    self.program.clock.advance(by: .milliseconds(20_500))
    self.bytes.currentValue = Text(id: 7)
    let pages = self.pages
    try await pages.fetchNextPage()
    self.program.clock.advance(by: .seconds(10))
    try await pages.fetchNextPage()
    #expect(await self.program.client.persistence.flush())
    return try await self.program.storage.entries(withPrefix: "value/")
  }

  // MARK: - Calls

  /// The mutations: with their names of today, or those of earlier versions.
  func register(in journal: MutationJournal) {
    journal.register(self.send, as: "send")
    journal.register(self.merging, as: "merge")
    journal.register(self.binary, as: "binary")
  }

  private var send: some MutationRequest<Note, String, any Error> {
    Send(server: self.server).waits(until: self.network).scope("s").journaled(as: "post", aliases: ["send"])
  }

  private var merging: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, path: ["merge"]).waits(until: self.network).scope("s")
      .journaled(
        as: "merge",
        version: 2,
        policy: .replacePending(by: \.id),
        migrate: { bytes, _ in try JSONDecoder().decode(Note.self, from: Data(bytes)) }
      )
      .expires(after: .seconds(60))
  }

  private var binary: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, path: ["binary"]).waits(until: self.network).journaled(
      as: "binary",
      coder: ReversingCoder()
    )
  }

  func writeCalls() async throws -> [StorageEntry] {
    let journal = self.program.makeJournal()
    let client = self.program.client
    let send = Send(server: self.server).waits(until: self.network).scope("s").journaled(as: "send")
    journal.register(send, as: "send")
    journal.register(self.merging, as: "merge")
    journal.register(self.binary, as: "binary")
    let plain = Task.immediate { try await client.store(for: send).mutate(with: Note(id: 1, text: "a")) }
    let merging = Task.immediate { try await client.store(for: self.merging).mutate(with: Note(id: 2, text: "b")) }
    let binary = Task.immediate { try await client.store(for: self.binary).mutate(with: Note(id: 3, text: "c")) }
    let entries = try await self.program.storage.entries(withPrefix: "journal/")
    for task in [plain, merging, binary] {
      task.cancel()
      _ = await task.result
    }
    return entries
  }

  /// Schedules calls of each kind, one of which is accepted at once and waits for the network.
  func writeSchedules() async throws -> [StorageEntry] {
    let journal = self.program.makeJournal()
    let start = Date(timeIntervalSinceReferenceDate: 0)
    try await journal.schedule(
      self.send,
      with: Note(id: 1, text: "a"),
      named: "each / day",
      every: .seconds(100),
      startingAt: start,
      missed: .skip
    )
    try await journal.schedule(self.merging, with: Note(id: 2, text: "b"), named: "once", at: start + 50)
    try await journal.schedule(self.binary, with: Note(id: 3, text: "c"), after: .seconds(60))
    let entries = try await self.program.storage.entries(withPrefix: "journal/")
    self.program.client.stopAutomaticRuns()
    await journal.settled()
    return entries
  }

  /// Makes the calls that are left.
  @discardableResult
  func resume() async -> MutationJournal {
    self.network.turnOn()
    let journal = self.program.makeJournal()
    self.register(in: journal)
    await journal.resume().settled()
    return journal
  }
}
