import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `onResult` and `onError`: one place for the results of all stores of a client.
@Suite(.bounded, .warningsAreIssues)
struct ResultEventTests {
  private let client = OperationClient()

  /// A line for each result: the path, whether it is final, and the value or the error.
  private func log(matching path: OperationPath = []) -> (Log<String>, OperationSubscription) {
    let log = Log<String>()
    let subscription = self.client.onResult(matching: path) { event in
      let result =
        switch event.result {
        case .success(let value): "\(value)"
        case .failure(let error): "\(error)"
        }
      log.append("\(event.path) \(event.isFinal ? "final" : "yielded") \(result)")
    }
    return (log, subscription)
  }

  @Test
  func `Values and errors of stores that exist and of later ones are reported with their paths`() async throws {
    let (first, second) = (IntScript(default: .value(1)), IntScript(default: .error(Refused(code: 2))))
    let existing = self.client.store(for: first.query(path: ["a"]))
    let (log, subscription) = self.log()
    try await existing.fetch()
    await #expect(throws: Refused.self) { try await self.client.store(for: second.query(path: ["b"])).fetch() }
    expect(log.all, equals: [#"["a"] final 1"#, #"["b"] final Refused(code: 2)"#])
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `An event has the name of the operation, the context of the run, and the error`() async throws {
    let script = IntScript(default: .error(Refused(code: 3)))
    let events = Log<OperationResultEvent>()
    let subscription = self.client.onError { error, event in
      expect(error as? Refused, equals: Refused(code: 3))
      events.append(event)
    }
    let query = script.query(path: ["a"])
    let store = self.client.store(for: query.context { $0[NumberKey.self] = 5 })
    await #expect(throws: Refused.self) { try await store.fetch() }
    let event = try #require(events.all.first)
    expect(events.count, equals: 1)
    expect(event.operationName, equals: query.operationName)
    expect(event.context[NumberKey.self], equals: 5)
    #expect(event.context.operationRunningTaskIdentifier != nil)
    expect(event.error as? Refused, equals: Refused(code: 3))
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `A yielded value is reported, and is not final`() async throws {
    let (log, subscription) = self.log()
    let script = IntScript()
    let store = self.client.store(for: script.query(path: ["a"]))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield(1)
    run.yield(error: Refused())
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
    expect(log.all, equals: [#"["a"] yielded 1"#, #"["a"] yielded Refused(code: 0)"#, #"["a"] final 2"#])
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `A run reports once, however many subscribers it has`() async throws {
    let (log, subscription) = self.log()
    let script = IntScript()
    let store = self.client.store(for: script.automaticQuery(path: ["a"]))
    let subscriptions = (0..<3).map { _ in store.subscribe { _ in } }
    try await script.next().succeed(1)
    await store.settled()
    expect(log.all, equals: [#"["a"] final 1"#])
    withExtendedLifetime((subscription, subscriptions)) {}
  }

  @Test
  func `A cancelled run and a value that is set are no results`() async throws {
    let (log, subscription) = self.log()
    let script = IntScript()
    let store = self.client.store(for: script.query(path: ["a"]))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    fetch.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    store.currentValue = 1
    store.setResult(to: .failure(Refused()))
    #expect(log.all.isEmpty)
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `Only paths that start with the prefix are reported`() async throws {
    let (log, subscription) = self.log(matching: ["a"])
    for path in [["a"], ["b"], ["a", "c"], ["ab"]] as [OperationPath] {
      try await self.client.store(for: IntScript(default: .value(1)).query(path: path)).fetch()
    }
    expect(log.all, equals: [#"["a"] final 1"#, #"["a", "c"] final 1"#])
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `Mutations of other state types are reported, and stores that an edit has inserted`() async throws {
    let (log, subscription) = self.log()
    let detached = IntStore.detached(query: IntScript(default: .value(4)).query(path: ["d"]))
    self.client.withStores(of: IntState.self) { stores, create in
      stores.update(detached)
      stores.update(create(for: IntScript(default: .value(5)).query(path: ["e"])))
    }
    try await detached.fetch()
    try await self.client.store(with: ["e"])?.fetch()
    let text = OperationScript<String, Refused>(default: .error(Refused()))
    await #expect(throws: Refused.self) { try await self.client.store(for: text.query(path: ["t"])).fetch() }
    expect(log.all, equals: [#"["d"] final 4"#, #"["e"] final 5"#, #"["t"] final Refused(code: 0)"#])
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `Nothing is reported after the subscription has ended, by a call or by its release`() async throws {
    let store = self.client.store(for: IntScript(default: .value(1)).query(path: ["a"]))
    let lifetimes = LifetimeTracker()
    let log = Log<String>()
    do {
      let token = lifetimes.token()
      let subscription = self.client.onResult { event in
        token.touch()
        log.append("\(event.path)")
      }
      try await store.fetch()
      subscription.cancel()
    }
    try await lifetimes.noneAlive()
    try await store.fetch()
    _ = self.client.onResult { _ in log.append("released") }
    try await store.fetch()
    expect(log.all, equals: [#"["a"]"#])
  }

  @Test
  func `A handler may use the client, and end its own subscription`() async throws {
    let subscription = Box<OperationSubscription?>(nil)
    let log = Log<String>()
    let client = self.client
    let store = client.store(for: IntScript(default: .value(1)).query(path: ["a"]))
    subscription.value = client.onResult { [unowned client] event in
      log.append("\(event.path)")
      client.store(for: NumberQuery(9)).currentValue = 3
      client.invalidate()
      client.store(with: ["a"])?.withExclusiveAccess { _ in }
      client.clearStore(with: ["numbers", 9])
      subscription.value = nil
    }
    try await store.fetch()
    try await store.fetch()
    expect(log.all, equals: [#"["a"]"#])
  }

  @Test
  func `A handler comes after the state, in the order of the events`() async throws {
    let log = Log<String>()
    let store = self.client.store(for: IntScript(default: .value(1)).query(path: ["a"]))
    let states = store.subscribe { state in log.append("state \(state.currentValue ?? 0)") }
    let subscription = self.client.onResult { [store] event in log.append("result beside \(store.currentValue ?? 0)") }
    try await store.fetch()
    expect(log.all, equals: ["state 0", "state 0", "state 1", "result beside 1"])
    withExtendedLifetime((states, subscription)) {}
  }

  @Test
  func `Following keeps neither a store nor the client alive`() async throws {
    let lifetimes = LifetimeTracker()
    let subscription: OperationSubscription
    do {
      let client = OperationClient()
      subscription = client.onResult { _ in }
      let script = OperationScript<LifetimeTracker.Token, any Error>(default: .value(lifetimes.token()))
      try await client.store(for: script.query(path: ["a"])).fetch()
      expect(lifetimes.aliveCount, equals: 1)
    }
    try await lifetimes.noneAlive()
    subscription.cancel()
  }

  @Test
  func `Ten thousand stores report once each, whether they were made before or after`() async throws {
    let counter = Counter()
    for number in 0..<5_000 { _ = self.client.store(for: NumberQuery(number)) }
    let subscription = self.client.onResult { event in
      if case .success(let value as Int) = event.result, event.path == ["numbers", value] { counter.increment() }
    }
    for number in 0..<10_000 { try await self.client.store(for: NumberQuery(number)).fetch() }
    expect(counter.value, equals: 10_000)
    subscription.cancel()
    try await self.client.store(for: NumberQuery(1)).fetch()
    expect(counter.value, equals: 10_000)
  }

  @Test
  func `Stores that are made on several threads while following begins are all followed in the end`() async throws {
    let client = self.client
    let counter = Counter()
    let subscriptions = Box<[OperationSubscription]>([])
    await withTaskGroup { group in
      for part in 0..<4 {
        group.addTask {
          for number in 0..<250 { _ = client.store(for: NumberQuery(part * 250 + number)) }
        }
      }
      group.addTask { subscriptions.value = [client.onResult { _ in counter.increment() }] }
    }
    for number in 0..<1_000 { try await client.store(for: NumberQuery(number)).fetch() }
    expect(counter.value, equals: 1_000)
    subscriptions.value = []
  }
}
