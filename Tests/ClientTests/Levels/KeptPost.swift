import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A client by a manual clock, and a query whose value is kept in a level.
struct KeptPost {
  typealias Fresh = ContextModifiedOperation<ScriptedQuery<String, any Error>>
  typealias Kept = ModifiedOperation<Fresh, KeptInLevel<Fresh>>
  typealias Store = OperationStore<QueryState<String, any Error>>

  static let path: OperationPath = ["posts", 1]

  let clock: ManualClock
  let script = OperationScript<String, any Error>()
  let shelf: Shelf
  let client: OperationClient

  init(_ shelf: Shelf = Shelf(), clock: ManualClock = ManualClock()) {
    self.clock = clock
    self.shelf = shelf
    var context = OperationContext()
    context.use(clock)
    // As clients are made by default.
    context.automaticRunningSpecification = AlwaysRunSpecification(isTrue: true)
    self.client = OperationClient(defaultContext: context)
  }

  /// A query whose values are fresh for a minute, and kept under the name "post". It decodes no value "damaged".
  func query(at path: OperationPath = Self.path, version: Int = 1, maximumAge: Duration? = nil) -> Kept {
    self.script.query(path: path).stale(after: .seconds(60))
      .kept(in: self.shelf, as: "post", version: version, maximumAge: maximumAge) {
        Array($0.utf8)
      } decode: {
        let text = String(decoding: $0, as: UTF8.self)
        if text == "damaged" { throw Refused() }
        return text
      }
  }

  func store(at path: OperationPath = Self.path) -> Store { self.client.store(for: self.query(at: path)) }

  /// Keeps a value as an earlier process has left it.
  func fill(_ text: String, secondsAgo: Double = 0, version: Int = 1, tags: [OperationPath] = []) {
    self.shelf.fill(text, version: version, date: self.clock.now().addingTimeInterval(-secondsAgo), tags: tags)
  }

  /// Fetches, and ends the run with a value.
  func fetch(_ value: String, in store: Store) async throws {
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(value)
    _ = try await fetch.value
  }
}
