import CoreFixtures
import FoundationEssentials
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// `store.explain()`: situations, each with the text of its explanation.
@Suite(.bounded, .warningsAreIssues)
struct ExplanationTests {
  private let posts = PostFixture()

  // MARK: - Values

  @Test
  func `Never run`() {
    let store = IntStore.detached(query: self.posts.query)
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has never run.
        It is stale, because it has no rule for staleness.
        It has no subscribers.
        """
    )
  }

  @Test
  func `A fresh value, and when it becomes stale`() {
    let store = IntStore.detached(query: self.posts.freshQuery)
    store.currentValue = 1
    self.posts.clock.advance(by: .seconds(12))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 12 s ago.
        It is fresh for 48 s more.
        It has no subscribers.
        Next: it becomes stale in 48 s.
        """
    )
    let staleness = store.staleness
    #expect(!staleness.isStale && staleness.reason == .fresh && staleness.description == "fresh")
    expect(staleness.freshUntil, equals: self.posts.clock.now().addingTimeInterval(48))
  }

  @Test
  func `A value that is too old`() {
    let store = IntStore.detached(query: self.posts.freshQuery)
    store.currentValue = 1
    self.posts.clock.advance(by: .seconds(75))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 1 min 15 s ago.
        It has been stale for 15 s, because its value is older than 1 min.
        It has no subscribers.
        """
    )
    expect(store.staleness.since, equals: self.posts.clock.now().addingTimeInterval(-15))
    expect(store.staleness.description, equals: "stale, because its value is older than 1 min")
    expect(store.staleness.isStale, equals: store.isStale)
  }

  @Test
  func `A predicate and a condition that make it stale, and a value that it began with`() {
    let store = IntStore.detached(query: self.posts.query.staleWhen { _, _ in true }, initialValue: 5)
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int) from the beginning.
        It is stale, because its rule `.staleWhen { … }` says so.
        It has no subscribers.
        """
    )
    let other = IntStore.detached(query: self.posts.query.staleWhen(satisfying: DescribedSwitch(true)))
    expect(other.staleness.description, equals: "stale, because the light is green")
    let empty = IntStore.detached(query: self.posts.query.stale(after: .seconds(1)))
    expect(empty.staleness.reason, equals: .rule("it has no value"))
  }

  @Test
  func `A value without a date, and one that is only the default, are no missing values`() {
    let store = IntStore.detached(query: self.posts.freshQuery, initialValue: 5)
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int) from the beginning.
        It is stale, because its value has no date.
        It has no subscribers.
        """
    )
    let defaulted = OperationStore.detached(query: self.posts.freshQuery.defaultValue(7))
    expect(defaulted.staleness.reason, equals: .rule("it has only its default value"))
    defaulted.currentValue = 1
    #expect(!defaulted.staleness.isStale)
  }

  @Test
  func `Without a rule of its own, a value is fresh for the time of the context`() {
    self.posts.client.setDefaults(matching: []) { $0.operationStaleAfter = .seconds(60) }
    let store = self.posts.client.store(for: self.posts.query)
    expect(store.staleness.reason, equals: .rule("it has no value"))
    store.currentValue = 1
    #expect(store.explanationText.contains("\nIt is fresh for 1 min more.\n"))
    #expect(store.explanationText.contains("it becomes stale in 1 min"))
    self.posts.clock.advance(by: .seconds(70))
    expect(store.staleness.isStale, equals: store.isStale)
    #expect(store.explanationText.contains("\nIt has been stale for 10 s, because its value is older than 1 min.\n"))
  }

  @Test
  func `An error after a value`() {
    let store = IntStore.detached(query: self.posts.freshQuery)
    store.currentValue = 1
    self.posts.clock.advance(by: .seconds(2))
    store.setResult(to: .failure(Refused(code: 3)))
    self.posts.clock.advance(by: .seconds(1))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 3 s ago.
        Its last result is an error of 1 s ago: Refused(code: 3).
        It is fresh for 57 s more.
        It has no subscribers.
        Next: it becomes stale in 57 s.
        """
    )
  }

  @Test
  func `Optimistic updates`() {
    let store = IntStore.detached(query: self.posts.freshQuery)
    store.currentValue = 1
    store.addLayer(StateLayerIdentifier()) { $0 = 2 }
    #expect(store.explanationText.contains("\nAn optimistic update is shown on top of it.\n"))
    store.addLayer(StateLayerIdentifier()) { $0 = 3 }
    #expect(store.explanationText.contains("\n2 optimistic updates are shown on top of it.\n"))
    let empty = IntStore.detached(query: self.posts.freshQuery)
    empty.addLayer(StateLayerIdentifier()) { $0 = 2 }
    expect(
      empty.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has never run.
        An optimistic update is shown on top of it.
        It is stale, because it has no value.
        It has no subscribers.
        """
    )
  }

  @Test
  func `An invalidation by a mutation`() {
    let store = self.posts.client.store(for: self.posts.freshQuery)
    store.currentValue = 1
    self.posts.client.invalidate(matching: ["posts"], by: "AddPost", isolation: nil)
    self.posts.clock.advance(by: .seconds(4))
    expect(
      self.posts.client.explain(["posts", 1]).textWithoutModifiers,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 4 s ago.
        It has been stale for 4 s, because of an invalidation of ["posts"] by AddPost.
        It has no subscribers.
        Next: it is evicted in 4 min 56 s.
        """
    )
  }

  // MARK: - Subscribers and what comes next

  @Test
  func `Two subscribers keep it`() {
    let store = IntStore.detached(query: self.posts.freshQuery)
    store.currentValue = 1
    let first = store.subscribe(named: "PostView")
    let second = store.subscribe(named: "Sidebar")
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 0 s ago.
        It is fresh for 1 min more.
        2 subscribers keep it: PostView, Sidebar.
        Next: it becomes stale in 1 min.
        """
    )
    first.cancel()
    let third = store.subscribe(with: IntRecorder().handler)
    #expect(store.explanationText.contains("\n2 subscribers keep it: Sidebar, 1 without a name.\n"))
    second.cancel()
    #expect(store.explanationText.contains("\nOne subscriber keeps it.\n"))
    third.cancel()
    #expect(store.explain().subscribers.isEmpty)
  }

  @Test
  func `It polls`() {
    let store = IntStore.detached(query: self.posts.freshQuery.rerun(every: .seconds(10)))
    store.currentValue = 1
    let subscription = store.subscribe(named: "PostView")
    self.posts.clock.advance(by: .seconds(7))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 7 s ago.
        It is fresh for 53 s more.
        One subscriber keeps it: PostView.
        Next: it polls in 3 s; it becomes stale in 53 s.
        """
    )
    subscription.cancel()
    #expect(!store.explanationText.contains("polls"))
  }

  @Test
  func `Nobody uses it, so that it is evicted`() {
    let store = self.posts.client.store(for: self.posts.query.stale(after: .seconds(600)))
    store.currentValue = 1
    let subscription = store.subscribe(named: "PostView")
    #expect(!store.explain().plans.contains { $0.action == "is evicted" })
    subscription.cancel()
    self.posts.clock.advance(by: .seconds(60))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 1 min ago.
        It is fresh for 9 min more.
        It has no subscribers.
        Next: it is evicted in 4 min; it becomes stale in 9 min.
        """
    )
  }

  @Test
  func `Automatic running is disabled`() {
    let store = IntStore.detached(query: self.posts.query.disableAutomaticRunning())
    let disabled = IntStore.detached(query: GetPost(script: self.posts.script).manualTime(self.posts.clock))
    let sentence = "A new subscriber does not run it: automatic running is not enabled."
    expect(disabled.explain().automaticRunObstacle, equals: sentence)
    // The modifier inside decides.
    expect(store.explain().automaticRunObstacle, equals: nil)
    #expect(disabled.explanationText.hasSuffix(sentence))
    let never = IntStore.detached(query: GetPost(script: self.posts.script).disableAutomaticRunning())
    expect(never.explain().automaticRunObstacle, equals: "It does not run by itself: automatic running is disabled.")
  }

  @Test
  func `It runs by itself when a condition becomes true`() {
    let query = GetPost(script: self.posts.script).manualTime(self.posts.clock)
    let store = IntStore.detached(query: query.enableAutomaticRunning(onlyWhen: DescribedSwitch(false)))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has never run.
        It is stale, because it has no rule for staleness.
        It has no subscribers.
        It does not run by itself until the light is green.
        """
    )
  }

  @Test
  func `The client has stopped automatic runs`() {
    let store = self.posts.client.store(for: self.posts.query)
    self.posts.client.stopAutomaticRuns()
    expect(
      store.explain().automaticRunObstacle,
      equals: "It does not run by itself: its client has stopped automatic runs."
    )
  }

  // MARK: - Paths, modifiers and secrets

  @Test
  func `A path without a store`() {
    _ = self.posts.client.store(for: self.posts.query)
    expect(self.posts.client.explain(["nothing"]).description, equals: "There is no store at [\"nothing\"].")
    expect(
      self.posts.client.explain(["posts"]).description,
      equals: "There is no store at [\"posts\"]. It has 1 store below."
    )
  }

  @Test
  func `Nothing secret is shown, and no value`() throws {
    let query = self.posts.script.query(path: ["a", Key(text: "hush")]).manualTime(self.posts.clock)
    let store = self.posts.client.store(for: query)
    store.currentValue = 9_876_543
    store.setResult(to: .failure(Leak(text: "hush")))
    let name = store.explain().operationName ?? ""
    expect(
      store.explanationText,
      equals: """
        \(name) at ["a", Key]
        It has a value (Int), set 0 s ago.
        Its last result is an error of 0 s ago: Leak.
        It is stale, because it has no rule for staleness.
        It has no subscribers.
        A new subscriber does not run it: automatic running is not enabled.
        Next: it is evicted in 5 min.
        """
    )
    let encoded = String(decoding: try JSONEncoder().encode(store.explain()), as: UTF8.self)
    #expect(encoded.contains("\"typeAndSize\":\"Int\"") && encoded.contains("\"text\":\"Leak\""))
    #expect(!encoded.contains("hush") && !encoded.contains("9876543"))
  }

  @Test
  func `The parts are encoded by their names, without those that are nil`() throws {
    let store = self.posts.client.store(for: self.posts.freshQuery)
    store.currentValue = 1
    let subscription = store.subscribe(with: IntRecorder().handler)
    var explanation = store.explain()
    explanation.sections = [.init(title: "Tags", facts: ["a"])]
    explanation.modifiers = []
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .custom { _, encoder in
      var container = encoder.singleValueContainer()
      try container.encode("date")
    }
    expect(
      String(decoding: try encoder.encode(explanation), as: UTF8.self),
      equals: """
        {"date":"date","endedRuns":[],"isRemoved":false,"isRestoring":false,"kind":"GetPost","layerAuthors":[],\
        "layerCount":0,"modifiers":[],"notices":[],"operationName":"GetPost","path":"[\\"posts\\", 1]",\
        "plans":[{"action":"becomes stale","delay":\(try self.json(.seconds(60)))}],"runs":[],\
        "sections":[{"facts":["a"],"title":"Tags"}],\
        "staleness":{"freshUntil":"date","isStale":false,"reason":"fresh"},"storesBelow":0,"subscribers":[null],\
        "value":{"age":\(try self.json(.zero)),"date":"date","typeAndSize":"Int"}}
        """
    )
    subscription.cancel()
  }

  private func json(_ duration: Duration) throws -> String {
    String(decoding: try JSONEncoder().encode(duration), as: UTF8.self)
  }

  @Test
  func `Modifiers are in the order in which they act, and add to the explanation`() {
    let query = GetPost(script: self.posts.script).modifier(Telling(title: "Inner")).modifier(Telling(title: "Outer"))
    let store = IntStore.detached(query: query.context { $0.operationExplainers = [Teller(title: "Context")] })
    let explanation = store.explain()
    expect(explanation.modifiers.suffix(2), equals: [".modifier(Telling)", ".modifier(Telling)"])
    expect(explanation.sections.map(\.title), equals: ["Outer", "Inner", "Context"])
    #expect(explanation.description.contains("\nOuter: one; two\nInner: one; two\nContext: one; two\n"))
    expect(explanation.kind, equals: "GetPost")
  }
}

private struct Key: Hashable, Sendable, OperationSecret {
  let text: String
}

private struct Leak: Error, OperationSecret {
  let text: String
}

private struct Telling<Operation: OperationRequest>: OperationModifier, OperationExplaining {
  let title: String

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }

  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    Teller(title: self.title).explain(store, in: &inspection)
  }
}

private struct Teller: OperationExplaining, Sendable {
  let title: String

  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    inspection.sections.append(.init(title: self.title, facts: ["one", "two"]))
  }
}
