import Foundation
import OperationCore
import OperationHooks
import OperationTesting
import Synchronization
import Testing

/// Observers, an interceptor, a level of values and a trigger, written with the public API of `OperationCore` alone.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct HookTests {
  private let client = OperationClient()
  private let clock = ManualClock()

  @Test
  func `Metrics count attempts and joins by path`() async throws {
    let metrics = RunMetrics()
    let observation = self.client.observe(with: metrics)
    defer { observation.cancel() }
    let gate = Gate()
    let query = QueryOperation<Int, any Error>("posts", 1) { context in
      try await gate.wait()
      var next = context
      next.beginNextAttempt(after: Missing())
      return 1
    }
    let store = self.client.store(for: query.context { $0.operationRunSharing = OperationRunSharing() })
    let (first, second) = (Task.immediate { try await store.fetch() }, Task.immediate { try await store.fetch() })
    gate.open()
    _ = try await (first.value, second.value)
    #expect(metrics[["posts", 1]].attempts == 2)
    #expect(metrics[["posts", 1]].joins == 1)
    try await self.client.store(for: QueryOperation<Int, any Error>("posts", 2) { _ in 2 }).fetch()
    #expect(metrics.sum(matching: ["posts"]).attempts == 3)
    #expect(metrics.sum(matching: ["users"]).attempts == 0)
  }

  @Test
  func `An index finds a value as soon as it can be read`() {
    let index = authors()
    let observation = self.client.observe(with: index)
    let script = OperationScript<[String], any Error>(default: .value([]))
    let stores = (0..<3).map { self.client.store(for: script.query(path: ["posts", $0])) }
    stores[0].currentValue = ["Ann", "Bob"]
    stores[1].withExclusiveAccess { store in
      store.currentValue = ["Bob"]
      #expect(index.stores(with: "Bob") == [stores[0].reference, stores[1].reference])
    }
    self.client.clearStore(with: ["posts", 0])
    #expect(index.stores(with: "Ann").isEmpty)
    observation.cancel()
    #expect(index.stores(with: "Bob").isEmpty)
  }

  @Test
  func `An index compares, hashes and releases keys without its lock`() {
    let asker = Asker()
    let index = ValueIndex<QueryState<[String], any Error>, AskingName> { state in
      Set((state.currentValue ?? []).map { AskingName($0, asker) })
    }
    asker.question.withLock { $0 = { _ = index.stores(with: AskingName("Eve", asker)) } }
    let observation = self.client.observe(with: index)
    let store = self.client.store(for: OperationScript<[String], any Error>(default: .value([])).query(path: ["posts"]))
    store.currentValue = ["Ann", "Bob"]
    #expect(index.stores(with: AskingName("Bob", asker)) == [store.reference])
    store.currentValue = ["Bob"]
    #expect(index.stores(with: AskingName("Ann", asker)).isEmpty)
    self.client.clearStore(with: ["posts"])
    observation.cancel()
    #expect(asker.count.withLock { $0 } > 10)
    asker.question.withLock { $0 = nil }
  }

  @Test
  func `A caller gets the last value if its run is slow or fails`() async throws {
    let script = OperationScript<Int, any Error>()
    let query = script.query().servingLastValue(after: .seconds(1)).manualTime(self.clock)
    let store = self.client.store(for: query)
    store.currentValue = 1
    let slow = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    self.clock.advance(by: .seconds(1))
    #expect(try await slow.value == 1)
    run.succeed(2)
    await store.settled()
    script.enqueue(.error(Missing()))
    #expect(try await store.fetch() == 2)
    #expect(store.error is Missing)
  }

  @Test
  func `A value from the archive has the age that it has`() async throws {
    let archive = Archive<Int>()
    let script = OperationScript<Int, any Error>(default: .value(1))
    func store() -> OperationStore<QueryState<Int, any Error>> {
      let query = script.query(path: ["post"]).archived(in: archive).stale(after: .seconds(60))
      return .detached(query: query.manualTime(self.clock))
    }
    let date = self.clock.now()
    #expect(try await store().fetch() == 1)
    self.clock.advance(by: .seconds(40))
    let later = store()
    #expect(try await later.fetch() == 1)
    #expect(script.runCount == 1)
    #expect(later.valueLastUpdatedAt == date)
    #expect(!later.isStale)
    self.clock.advance(by: .seconds(20))
    #expect(later.isStale)
  }

  @Test
  func `Signing out evicts the idle stores of the account`() throws {
    let signOuts = SignOuts()
    let client = OperationClient(storeCache: OperationClient.DefaultStoreCache(evictionTrigger: signOuts))
    let script = OperationScript<Int, any Error>(default: .value(1))
    for name in ["ann", "bob"] {
      let query = script.query(path: ["inbox", Account(name)]).context { $0.account = Account(name) }
      _ = client.store(for: query)
    }
    _ = client.store(for: script.query(path: ["news"]))
    signOuts.signOut(Account("ann"))
    #expect(client.stores(matching: []).count == 2)
    #expect(client.store(with: ["inbox", Account("ann")]) == nil)
    // No event and no explanation names an account.
    #expect(ShownText.of(["inbox", Account("bob")]) == #"["inbox", Account]"#)
  }

  @Test
  func `All keep the rules of the kit`() async throws {
    try await checkStoreObserver { RunMetrics() }
    try await checkStoreValueObserver(values: ["Ann"], []) { authors() }
    try await checkStoreCallInterceptor(answeringAfter: .seconds(1)) { LastValue(patience: .seconds(1)) }
    // A second run takes the value of the first one.
    try await checkModifier(except: [.waits]) { $0.archived(in: Archive()) }
  }
}

private func authors() -> ValueIndex<QueryState<[String], any Error>, String> {
  ValueIndex { Set($0.currentValue ?? []) }
}

/// Asks a question in the keys of an index, one at a time.
private final class Asker: Sendable {
  let question = Mutex<(@Sendable () -> Void)?>(nil)
  let count = Mutex(0)

  func ask() {
    // No question within a question: that would compare keys as well.
    guard let question = self.question.withLock({ $0.take() }) else { return }
    self.count.withLock { $0 += 1 }
    question()
    self.question.withLock { $0 = question }
  }
}

/// A name that asks when it is compared, hashed or released.
private final class AskingName: Hashable, Sendable {
  let name: String
  let asker: Asker

  init(_ name: String, _ asker: Asker) {
    (self.name, self.asker) = (name, asker)
  }

  deinit { self.asker.ask() }

  static func == (left: AskingName, right: AskingName) -> Bool {
    left.asker.ask()
    return left.name == right.name
  }

  func hash(into hasher: inout Hasher) {
    self.asker.ask()
    hasher.combine(self.name)
  }
}

private struct Missing: Error {}
