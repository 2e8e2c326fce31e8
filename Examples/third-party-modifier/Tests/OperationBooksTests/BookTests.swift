import OperationBackoff
import OperationBooks
import OperationCore
import OperationHooks
import OperationRetry
import OperationTesting
import Synchronization
import Testing

/// A kind of operations and an integration, written with the public API of `OperationCore` alone.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct BookTests {
  @Test
  func `A book arrives chapter by chapter, in one run`() async throws {
    let store = OperationClient().store(for: Novel(library: Library()), initialState: BookState())
    let recorder = Mutex<[[Int]]>([])
    let subscription = store.subscribe { state in
      let chapters = state.currentValue.keys.sorted()
      recorder.withLock { if $0.last != chapters { $0.append(chapters) } }
    }
    defer { subscription.cancel() }
    try await store.run()
    #expect(recorder.withLock { $0 } == [[], [1], [1, 2], [1, 2, 3]])
    #expect(store.valueUpdateCount == 3)
  }

  @Test
  func `A retry goes on with the chapter that has failed`() async throws {
    let library = Library(failing: [2])
    let query = Novel(library: library).retry(limit: 1).delayer(.noDelay)
    let store = OperationClient().store(for: query, initialState: BookState())
    try await store.run()
    #expect(store.currentValue == [1: "Chapter 1", 2: "Chapter 2", 3: "Chapter 3"])
    #expect(library.requests == [1, 2, 2, 3])
  }

  @Test
  func `A modified book is a book, and runs outside of a store`() async throws {
    let book = asBook(Novel(library: Library()).retry(limit: 1))
    #expect(book.chapterCount == 3)
    #expect(try await OperationRunner(operation: book).run().count == 3)
  }

  @Test
  func `The state keeps the rules for kinds`() async throws {
    try await checkKind(returning: [1: "One"], [1: "Another"]) { (ScriptedBook(script: $0), BookState()) }
  }

  @Test
  func `Runs follow each other`() async throws {
    let gate = Gate()
    let library = Library(gate: gate)
    let store = OperationClient().store(for: Novel(library: library), initialState: BookState())
    let first = Task { try await store.run() }
    try await gate.arrivals(count: 1)
    let second = Task.immediate { try await store.run() }
    gate.open()
    _ = try await (first.value, second.value)
    #expect(library.requests == [1, 2, 3, 1, 2, 3])
  }

  @Test
  func `A caller gets the chapters that are there if the run fails`() async throws {
    let library = Library()
    let book = Novel(library: library).servingLastValue(after: .seconds(60))
    let store = OperationClient().store(for: book, initialState: BookState())
    try await store.run()
    library.fail(at: 2)
    #expect(try await store.run() == [1: "Chapter 1", 2: "Chapter 2", 3: "Chapter 3"])
    #expect(store.error is Missing)
  }

  @Test
  func `An equal chapter keeps its instance`() async throws {
    let store = OperationClient().store(for: Reprint().keepsEqualValues(), initialState: BookState())
    try await store.run()
    let first = try #require(store.currentValue[1])
    try await store.run()
    #expect(store.currentValue[1] === first)
    #expect(store.valueUpdateCount == 2)
  }

  @Test
  func `A draft is a layer over all books, until it is saved or dropped`() async throws {
    let client = OperationClient()
    let store = client.store(for: Novel(library: Library()), initialState: BookState())
    try await store.run()
    let dropped = Draft("Once", of: 1, matching: [], in: client)
    #expect(store.currentValue[1] == "Once")
    dropped.drop()
    #expect(store.currentValue[1] == "Chapter 1")
    let saved = Draft("Twice", of: 1, matching: [], in: client)
    saved.save()
    #expect(store.currentValue[1] == "Twice")
    #expect(store.inspect().layers.isEmpty)
  }

  @Test
  func `A bus passes invalidations on to the other clients, once`() async throws {
    let (bus, clients) = (Bus(), (0..<3).map { _ in OperationClient() })
    for client in clients { bus.attach(client) }
    let libraries = clients.map { _ in Library() }
    let stores = zip(clients, libraries).map { client, library in
      client.store(for: Novel(library: library), initialState: BookState())
    }
    let subscriptions = stores.map { $0.subscribe { _ in } }
    defer { for subscription in subscriptions { subscription.cancel() } }
    for store in stores { try await store.run() }
    #expect(libraries.map(\.requests.count) == [3, 3, 3])
    await clients[0].invalidate(matching: ["novel"]).settled()
    for store in stores { await store.settled() }
    #expect(libraries.map(\.requests.count) == [6, 6, 6])
  }
}

private func asBook(_ book: some BookRequest<String>) -> some BookRequest<String> { book }

/// Where the chapters are.
private final class Library: Sendable {
  private let state: Mutex<(requests: [Int], failing: Set<Int>)>

  /// Each request passes it.
  private let gate: Gate

  init(failing: Set<Int> = [], gate: Gate = Gate(isOpen: true)) {
    self.state = Mutex(([], failing))
    self.gate = gate
  }

  var requests: [Int] { self.state.withLock { $0.requests } }

  /// Lets the next request of a chapter fail.
  func fail(at number: Int) {
    self.state.withLock { _ = $0.failing.insert(number) }
  }

  func chapter(_ number: Int) async throws -> String {
    try await self.gate.wait()
    let fails = self.state.withLock { state in
      state.requests.append(number)
      return state.failing.remove(number) != nil
    }
    if fails { throw Missing() }
    return "Chapter \(number)"
  }
}

private struct Missing: Error {}

private struct Novel: BookRequest {
  let library: Library

  var path: OperationPath { ["novel"] }
  var chapterCount: Int { 3 }

  func chapter(_ number: Int, in context: OperationContext) async throws -> String {
    try await self.library.chapter(number)
  }
}

/// A text with an identity.
private final class Text: Equatable, Sendable {
  let content: String

  init(_ content: String) {
    self.content = content
  }

  static func == (lhs: Text, rhs: Text) -> Bool { lhs.content == rhs.content }
}

/// A book of one chapter, which each run makes anew.
private struct Reprint: BookRequest {
  var path: OperationPath { ["reprint"] }
  var chapterCount: Int { 1 }

  func chapter(_ number: Int, in context: OperationContext) async throws -> Text { Text("Once") }
}

/// A book whose work is the script's.
private struct ScriptedBook: StatefulOperationRequest {
  typealias State = BookState<String>

  let script: OperationScript<[Int: String], any Error>

  var path: OperationPath { ["scripted", ObjectIdentifier(self.script)] }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Int: String], any Error>
  ) async throws -> [Int: String] {
    try await self.script.run(in: context, with: continuation)
  }
}
