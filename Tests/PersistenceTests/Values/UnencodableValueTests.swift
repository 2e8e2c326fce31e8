import OperationCore
import OperationEvents
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@testable import OperationPersistence

/// What is shown of a value that cannot be encoded: why, and nothing of the value.
@Suite(.bounded, .warningsAreIssues) struct UnencodableValueTests {
  /// How a value refuses to be encoded.
  enum Refusal: CaseIterable {
    case encoder, own, depth

    /// What is shown of the error.
    var text: String {
      switch self {
      case .encoder: "account"
      case .own: "Refused"
      case .depth: "EncodingError.invalidValue"
      }
    }
  }

  private func expectNoSecret(
    in text: String,
    because refusal: Refusal,
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(text.contains(refusal.text), "\(text)", sourceLocation: location)
    #expect(!text.contains("hush"), "\(text)", sourceLocation: location)
  }

  @Test(arguments: Refusal.allCases)
  func `A warning and an explanation have the kind of the error and its coding path`(_ refusal: Refusal) async throws {
    let program = Program()
    let query = OperationScript<Chain, any Error>().query(path: ["chain"]).persisted(as: "chain")
    let store = program.client.store(for: query)
    let recorder = WarningRecorder()
    await recorder.recording {
      store.currentValue = Chain(refusal)
      #expect(await !program.client.persistence.flush())
    }
    expect(recorder.warnings.map(\.code), equals: [.valueNotEncoded])
    self.expectNoSecret(in: recorder.warnings.map(\.message).joined(), because: refusal)
    self.expectNoSecret(in: "\(store.explain())", because: refusal)
  }

  @Test(arguments: Refusal.allCases)
  func `So has the warning of a value that is not handed over`(_ refusal: Refusal) {
    let client = Program().client
    let query = OperationScript<Chain, any Error>().query(path: ["chain"]).hydratable(as: "chain")
    let store = client.store(for: query)
    store.currentValue = Chain(refusal)
    let recorder = WarningRecorder()
    #expect(recorder.recording { client.dehydrate() }.isEmpty)
    expect(recorder.warnings.map(\.code), equals: [.valueNotEncoded])
    self.expectNoSecret(in: recorder.warnings.map(\.message).joined(), because: refusal)
  }

  @Test(arguments: Refusal.allCases)
  func `So has the error of a journaled call, with what helps`(_ refusal: Refusal) async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = MutationOperation("login") { (_: Chain, _) in 1 }.journaled(as: "login")
    let store = program.client.store(for: mutation)
    let error = try #require(await #expect(throws: JournalError.self) { try await store.mutate(with: Chain(refusal)) })
    #expect(error.code == .notAccepted && error.cause != nil)
    self.expectNoSecret(in: "\(error)", because: refusal)
    self.expectNoSecret(in: ShownText.of(error), because: refusal)
    var dumped = ""
    dump(error, to: &dumped)
    #expect(!dumped.contains("hush"))
    #expect(error.message.contains("`coder:`") && !error.message.contains("Make room"))
    let text = "\(store.explain())"
    #expect(text.contains("login") && !text.contains("hush"), "\(text)")
    #expect(journal.entries.isEmpty)
  }

  @Test(arguments: Refusal.allCases)
  func `So has the error of a call that is scheduled`(_ refusal: Refusal) async throws {
    let program = Program()
    let journal = program.makeJournal()
    let mutation = MutationOperation("login") { (_: Chain, _) in 1 }.journaled(as: "login")
    let error = try #require(
      await #expect(throws: JournalError.self) {
        try await journal.schedule(mutation, with: Chain(refusal), after: .seconds(1))
      }
    )
    self.expectNoSecret(in: "\(error)", because: refusal)
    #expect(error.code == .notAccepted && error.message.contains("`coder:`"))
    #expect(journal.schedules.isEmpty)
  }

  @Test func `So has the error of a call whose merged arguments cannot be encoded`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let gate = Gate()
    let save = MutationOperation("save") { (_: Chain, _) in
      try await gate.wait()
      return 1
    }
    .scope("s").journaled(as: "save", policy: .merge(by: { _ in 1 }, { _, _ in Chain(.encoder) }))
    let store = program.client.store(for: save)
    var calls = [Task.immediate { try await store.mutate(with: Chain()) }]
    try await gate.arrivals(count: 1)
    calls.append(Task.immediate { try await store.mutate(with: Chain()) })
    let error = try #require(await #expect(throws: JournalError.self) { try await store.mutate(with: Chain()) })
    self.expectNoSecret(in: "\(error)", because: .encoder)
    #expect(error.message.contains("`coder:`"))
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(journal.entries.isEmpty)
  }

  @Test func `The error of a call that a storage refuses has its own text, without secrets`() async throws {
    let storage = TestStorage()
    storage.failToWrite(true)
    let program = Program(storage)
    _ = program.makeJournal()
    let store = program.client.store(for: MutationOperation("add") { (_: Int, _) in 1 }.journaled(as: "add"))
    let error = await #expect(throws: JournalError.self) { try await store.mutate(with: 1) }
    #expect("\(try #require(error))".hasSuffix("See the cause, and call again. (Broken())"))
    let full = JournalError.notAccepted("add", StorageError(code: .full, message: "Full."))
    #expect(full.message.hasSuffix("Make room in the storage, and call again."))
  }
}

/// A value that is encoded unless it has a refusal.
private final class Chain: Codable, Sendable {
  let text: String
  let refusal: String?
  let next: Chain?

  enum CodingKeys: String, CodingKey {
    case text, next, account
  }

  private struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  init(text: String = "hush", refusal: String? = nil, next: Chain? = nil) {
    (self.text, self.refusal, self.next) = (text, refusal, next)
  }

  convenience init(_ refusal: UnencodableValueTests.Refusal) {
    let next = refusal == .depth ? (0..<600).reduce(Chain()) { chain, _ in Chain(next: chain) } : nil
    self.init(refusal: "\(refusal)", next: next)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    (self.text, self.refusal) = (try container.decode(String.self, forKey: .text), nil)
    self.next = try container.decodeIfPresent(Chain.self, forKey: .next)
  }

  func encode(to encoder: any Encoder) throws {
    switch self.refusal {
    case "encoder":
      let path = encoder.codingPath + [CodingKeys.account]
      throw EncodingError.invalidValue(
        self.text,
        EncodingError.Context(codingPath: path, debugDescription: "no \(self.text)")
      )
    case "own": throw Refused(description: self.text)
    default:
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(self.text, forKey: .text)
      try container.encodeIfPresent(self.next, forKey: .next)
    }
  }
}
