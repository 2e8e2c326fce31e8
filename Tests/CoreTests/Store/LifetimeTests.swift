import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// What keeps a store alive, and what is left when it is released.
@Suite(.bounded, .warningsAreIssues)
struct LifetimeTests {
  @Test
  func `A subscription does not keep its store`() {
    var store: IntStore? = .detached(query: IntScript().query())
    weak let witness = store
    let subscription = store?.subscribe(with: IntRecorder().handler)
    store = nil
    #expect(witness == nil)
    subscription?.cancel()
  }

  @Test
  func `A run, its task and its context do not keep the store, and the run goes on`() async throws {
    let script = IntScript()
    var store: IntStore? = .detached(query: script.query())
    weak let witness = store
    let task = try #require(store?.fetchTask())
    let fetch = Task.immediate { try await task.runIfNeeded() }
    let run = try await script.next()
    #expect(run.context.runningOperationStore?.base as? IntStore === store)
    store = nil
    #expect(witness == nil)
    #expect(run.context.runningOperationStore == nil)
    run.yield(1)
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
  }

  @Test
  func `A run that only subscribers own ends with the store`() async throws {
    let script = IntScript()
    var store: IntStore? = .detached(query: script.automaticQuery())
    let recorder = IntRecorder()
    let subscription = store?.subscribe(with: recorder.handler)
    let run = try await script.next()
    let count = recorder.events.count
    store = nil
    try await run.cancelled()
    try await script.noActiveRuns()
    // The last state, and nothing after it.
    expect(recorder.events.count, equals: count + 1)
    expect(recorder.states.last?.isLoading, equals: false)
    subscription?.cancel()
  }

  @Test
  func `Controllers end with the store`() {
    let log = Log<String>()
    var store: IntStore? = .detached(query: IntScript().query().controlled(by: LoggingController(log: log)))
    expect(log.all, equals: ["began"])
    store?.currentValue = 1
    store = nil
    expect(log.all, equals: ["began", "ended"])
  }

  @Test
  func `Nothing is left of ten thousand stores and their client`() {
    let lifetimes = LifetimeTracker()
    var client: OperationClient? = OperationClient()
    weak let clientWitness = client
    var held: [IntStore] = []
    for number in 0..<10_000 {
      let query = CountedQuery(number: number, token: lifetimes.token()).stale(after: .seconds(60)).cacheTime(
        .seconds(900)
      )
      guard let store = client?.store(for: query) else { break }
      if number.isMultiple(of: 100) { held.append(store) }
      store.subscribe(with: IntRecorder().handler).cancel()
    }
    expect(lifetimes.aliveCount, equals: 10_000)
    client = nil
    #expect(clientWitness == nil)
    expect(lifetimes.aliveCount, equals: 100)
    for store in held { store.currentValue = 1 }
    held = []
    expect(lifetimes.aliveCount, equals: 0)
  }

  @Test
  func `Nothing is left of stores that are cleared while they run`() async throws {
    let lifetimes = LifetimeTracker()
    let client = OperationClient()
    let gate = Gate()
    var fetches: [Task<Int, any Error>] = []
    for number in 0..<100 {
      let store = client.store(for: CountedQuery(number: number, token: lifetimes.token(), gate: gate))
      fetches.append(Task.immediate { try await store.fetch() })
    }
    try await gate.arrivals(count: 100)
    client.clearStores()
    gate.open()
    for fetch in fetches { _ = try await fetch.finished() }
    fetches = []
    try await lifetimes.noneAlive()
    #expect(client.stores().isEmpty)
  }

  @Test
  func `Nothing is left of a detached store that was fetched, watched and controlled`() async throws {
    let lifetimes = LifetimeTracker()
    for number in 0..<1_000 {
      let query = CountedQuery(number: number, token: lifetimes.token())
        .controlled(by: LoggingController(log: Log<String>()))
        .rerun(every: .seconds(1_000))
        .rerunOnChange(of: .always(true))
        .enableAutomaticRunning(onlyWhen: .always(true))
      let store = IntStore.detached(query: query)
      let subscription = store.subscribe(with: IntRecorder().handler)
      try await store.fetch()
      subscription.cancel()
    }
    try await lifetimes.noneAlive()
  }

  @Test
  func `A store that is released in the middle of an event reports its true state to the remaining handlers`() {
    let box = Box<IntStore?>(.detached(query: IntScript().query(), initialValue: 0))
    let log = Log<String>()
    let subscriptions = (0..<3).compactMap { number in
      box.value?.subscribe(
        with: QueryEventHandler { state, _ in
          log.append("\(number): \(state.currentValue ?? -1)")
          if number == 1, state.currentValue == 1 {
            box.value?.currentValue = 2
            box.value = nil
          }
        }
      )
    }
    box.value?.currentValue = 1
    #expect(log.all.starts(with: ["0: 0", "1: 0", "2: 0", "0: 1", "1: 1"]))
    #expect(box.value == nil)
    OperationSubscription.combined(subscriptions).cancel()
  }
}

private struct CountedQuery: QueryRequest {
  let number: Int
  let token: LifetimeTracker.Token
  var gate: Gate?

  var path: OperationPath { ["counted", self.number] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.gate?.wait()
    return self.number
  }
}

private struct LoggingController: OperationController, Sendable {
  let log: Log<String>

  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    self.log.append("began")
    return OperationSubscription {
      _ = controls.state
      self.log.append("ended")
    }
  }
}
