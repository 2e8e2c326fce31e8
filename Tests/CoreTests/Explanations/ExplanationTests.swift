import FoundationEssentials
import OperationTesting
import TestFixtures
import Testing

@testable import OperationCore

/// `store.explain()`: situations, each with the text of its explanation.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct ExplanationTests {
  private let client = OperationClient()
  private let clock = ManualClock()
  private let script = IntScript()

  private var query: some QueryRequest<Int, any Error> {
    GetPost(script: self.script).enableAutomaticRunning(onlyWhen: .always(true)).manualTime(self.clock)
  }

  /// The text without the line of the modifiers, which release builds know less of.
  private func text(of explanation: OperationExplanation) -> String {
    explanation.description.split(separator: "\n").filter { !$0.hasPrefix("Modifiers") }.joined(separator: "\n")
  }

  private func text(of store: OperationStore<IntState>) -> String { self.text(of: store.explain()) }

  // MARK: - Values

  @Test
  func `Never run`() {
    let store = IntStore.detached(query: self.query)
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has never run.
        It is stale, because it has no rule for staleness.
        Nobody subscribes to it.
        """
    )
  }

  @Test
  func `A fresh value, and when it becomes stale`() {
    let store = IntStore.detached(query: self.query.stale(after: .seconds(60)))
    store.currentValue = 1
    self.clock.advance(by: .seconds(12))
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has a value (Int), set 12 s ago.
        It is fresh for 48 s more.
        Nobody subscribes to it.
        Next: it becomes stale in 48 s.
        """
    )
    let staleness = store.staleness
    #expect(!staleness.isStale && staleness.reason == .fresh && staleness.description == "fresh")
    #expect(staleness.freshUntil == self.clock.now().addingTimeInterval(48))
  }

  @Test
  func `A value that is too old`() {
    let store = IntStore.detached(query: self.query.stale(after: .seconds(60)))
    store.currentValue = 1
    self.clock.advance(by: .seconds(75))
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has a value (Int), set 1 min 15 s ago.
        It has been stale for 15 s, because its value is older than 1 min.
        Nobody subscribes to it.
        """
    )
    #expect(store.staleness.since == self.clock.now().addingTimeInterval(-15))
    #expect(store.staleness.description == "stale, because its value is older than 1 min")
    #expect(store.staleness.isStale == store.isStale)
  }

  @Test
  func `A predicate and a condition that make it stale, and a value that it began with`() {
    let store = IntStore.detached(query: self.query.staleWhen { _, _ in true }, initialValue: 5)
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has a value (Int) from the beginning.
        It is stale, because its rule `.staleWhen { … }` says so.
        Nobody subscribes to it.
        """
    )
    let other = IntStore.detached(query: self.query.staleWhen(satisfying: DescribedSwitch(true)))
    #expect(other.staleness.description == "stale, because the light is green")
    #expect(IntStore.detached(query: self.query.stale(after: .seconds(1))).staleness.reason == .rule("it has no value"))
  }

  @Test
  func `An error after a value`() {
    let store = IntStore.detached(query: self.query.stale(after: .seconds(60)))
    store.currentValue = 1
    self.clock.advance(by: .seconds(2))
    store.setResult(to: .failure(Refused(code: 3)))
    self.clock.advance(by: .seconds(1))
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has a value (Int), set 3 s ago.
        Its last result is an error of 1 s ago: Refused(code: 3).
        It is fresh for 57 s more.
        Nobody subscribes to it.
        Next: it becomes stale in 57 s.
        """
    )
  }

  @Test
  func `Optimistic updates`() {
    let store = IntStore.detached(query: self.query.stale(after: .seconds(60)))
    store.currentValue = 1
    store.addLayer(StateLayerIdentifier()) { $0 = 2 }
    #expect(self.text(of: store).contains("\nAn optimistic update is shown on top of it.\n"))
    store.addLayer(StateLayerIdentifier()) { $0 = 3 }
    #expect(self.text(of: store).contains("\n2 optimistic updates are shown on top of it.\n"))
  }

  @Test
  func `An invalidation by a mutation`() {
    let store = self.client.store(for: self.query.stale(after: .seconds(60)))
    store.currentValue = 1
    self.client.invalidate(matching: ["posts"], by: "AddPost", isolation: nil)
    self.clock.advance(by: .seconds(4))
    #expect(
      self.text(of: self.client.explain(["posts", 1])) == """
        GetPost at ["posts", 1]
        It has a value (Int), set 4 s ago.
        It has been stale for 4 s, because of an invalidation of ["posts"] by AddPost.
        Nobody subscribes to it.
        Next: it is evicted in 4 min 56 s.
        """
    )
  }

  // MARK: - Subscribers and what comes next

  @Test
  func `Two subscribers keep it`() {
    let store = IntStore.detached(query: self.query.stale(after: .seconds(60)))
    store.currentValue = 1
    let first = store.subscribe(named: "PostView")
    let second = store.subscribe(named: "Sidebar")
    #expect(self.text(of: store).contains("\n2 subscribers keep it: PostView, Sidebar.\n"))
    first.cancel()
    let third = store.subscribe(with: IntRecorder().handler)
    #expect(self.text(of: store).contains("\n2 subscribers keep it: Sidebar, 1 without a name.\n"))
    second.cancel()
    #expect(self.text(of: store).contains("\nOne subscriber keeps it.\n"))
    third.cancel()
    #expect(store.explain().subscribers.isEmpty)
  }

  @Test
  func `It polls`() {
    let store = IntStore.detached(query: self.query.stale(after: .seconds(60)).rerun(every: .seconds(10)))
    store.currentValue = 1
    let subscription = store.subscribe(named: "PostView")
    self.clock.advance(by: .seconds(7))
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has a value (Int), set 7 s ago.
        It is fresh for 53 s more.
        One subscriber keeps it: PostView.
        Next: it polls in 3 s; it becomes stale in 53 s.
        """
    )
    subscription.cancel()
    #expect(!self.text(of: store).contains("polls"))
  }

  @Test
  func `Nobody uses it, so that it is evicted`() {
    let store = self.client.store(for: self.query.stale(after: .seconds(100_000)))
    store.currentValue = 1
    let subscription = store.subscribe(named: "PostView")
    #expect(!store.explain().plans.contains { $0.action == "is evicted" })
    subscription.cancel()
    self.clock.advance(by: .seconds(60))
    #expect(store.explain().plans.first == OperationExplanation.Plan(action: "is evicted", delay: .seconds(240)))
  }

  @Test
  func `Automatic running is disabled`() {
    let store = IntStore.detached(query: self.query.disableAutomaticRunning())
    let disabled = IntStore.detached(query: GetPost(script: self.script).manualTime(self.clock))
    let sentence = "It does not run by itself: automatic running is disabled."
    #expect(disabled.explain().automaticRunObstacle == sentence)
    // The modifier inside decides.
    #expect(store.explain().automaticRunObstacle == nil)
    #expect(self.text(of: disabled).hasSuffix(sentence))
  }

  @Test
  func `It runs by itself when a condition becomes true`() {
    let query = GetPost(script: self.script).manualTime(self.clock)
    let store = IntStore.detached(query: query.enableAutomaticRunning(onlyWhen: DescribedSwitch(false)))
    #expect(
      self.text(of: store) == """
        GetPost at ["posts", 1]
        It has never run.
        It is stale, because it has no rule for staleness.
        Nobody subscribes to it.
        It does not run by itself until the light is green.
        """
    )
  }

  @Test
  func `The client has stopped automatic runs`() {
    let store = self.client.store(for: self.query)
    self.client.stopAutomaticRuns()
    #expect(
      store.explain().automaticRunObstacle == "It does not run by itself: its client has stopped automatic runs."
    )
  }

  // MARK: - Paths, modifiers and secrets

  @Test
  func `A path without a store`() {
    _ = self.client.store(for: self.query)
    #expect(self.client.explain(["nothing"]).description == "There is no store at [\"nothing\"].")
    #expect(
      self.client.explain(["posts"]).description == "There is no store at [\"posts\"]. It has 1 store below."
    )
  }

  @Test
  func `Nothing secret is shown, and no value`() throws {
    let query = self.script.query(path: ["a", Key(text: "hush")]).manualTime(self.clock)
    let store = self.client.store(for: query)
    store.currentValue = 9_876_543
    store.setResult(to: .failure(Leak(text: "hush")))
    let text = store.explain().description
    #expect(text.contains("at [\"a\", Key]\n") && text.contains("of 0 s ago: Leak.\n"))
    #expect(!text.contains("hush") && !text.contains("9876543"))
    let encoded = String(decoding: try JSONEncoder().encode(store.explain()), as: UTF8.self)
    #expect(encoded.contains("\"typeAndSize\":\"Int\"") && encoded.contains("\"text\":\"Leak\""))
    #expect(!encoded.contains("hush") && !encoded.contains("9876543"))
  }

  @Test
  func `Modifiers are in the order in which they act, and add to the explanation`() {
    let query = GetPost(script: self.script).modifier(Telling(title: "Inner")).modifier(Telling(title: "Outer"))
    let store = IntStore.detached(query: query.context { $0.operationExplainers = [Teller(title: "Context")] })
    let explanation = store.explain()
    #expect(explanation.modifiers.suffix(2) == [".modifier(Telling)", ".modifier(Telling)"])
    #expect(explanation.sections.map(\.title) == ["Outer", "Inner", "Context"])
    #expect(explanation.description.contains("\nOuter: one; two\nInner: one; two\nContext: one; two\n"))
    #expect(explanation.kind == "GetPost")
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

  func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    Teller(title: self.title).explain(store, in: &explanation)
  }
}

private struct Teller: OperationExplaining, Sendable {
  let title: String

  func explain(_ store: OpaqueOperationStore, in explanation: inout OperationExplanation) {
    explanation.sections.append(.init(title: self.title, facts: ["one", "two"]))
  }
}
