import CoreFixtures
import OperationCore
import OperationEvents
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

/// `clearEverything(within:switching:)`: a client forgets its user.
@Suite(.bounded, .warningsAreIssues)
struct ClearingTests {
  private let clock = ManualClock()
  private let script = IntScript()
  private let log = Log<String>()
  private let client: OperationClient

  init() {
    var context = OperationContext()
    context.use(self.clock)
    self.client = OperationClient(defaultContext: context)
  }

  private func handler(_ name: String = "") -> OperationEventHandler<IntState> {
    OperationEventHandler(
      onStateChanged: { [log] state, _ in
        log.append("\(name)\(state.currentValue ?? 0)\(state.isLoading ? " loading" : "")")
      },
      onStoreRemoved: { [log] _ in log.append("\(name)removed") }
    )
  }

  // MARK: - What is forgotten

  @Test
  func `Stores are removed and empty, without their initial values and optimistic updates`() async throws {
    let store = self.client.store(for: self.script.query(path: ["a"]), initialValue: 1)
    let withDefault = self.client.store(for: self.script.query(path: ["b"]).defaultValue(5))
    let subscription = store.subscribe(with: self.handler())
    store.addLayer(StateLayerIdentifier()) { $0 = ($0 ?? 0) + 10 }
    store.currentValue = 2
    withDefault.currentValue = 6

    try await self.client.clearEverything()

    expect(self.log.all, equals: ["1", "11", "12", "0", "removed"])
    expect(store.currentValue, equals: nil)
    expect(store.state.initialValue, equals: nil)
    expect(store.valueUpdateCount, equals: 0)
    #expect(store.isRemoved)
    expect(withDefault.currentValue, equals: 5)
    #expect(self.client.stores().isEmpty)
    subscription.cancel()
  }

  @Test
  func `What follows an operation goes on with a store without the initial value, after the end`() async throws {
    let store = self.client.store(for: self.script.query(path: ["a"]), initialValue: 1)
    var states = [store].combinedStates().makeAsyncIterator()
    await expect(states.next()?[0].currentValue, equals: 1)
    let client = self.client
    try await self.client.clearEverything { #expect(client.stores().isEmpty) }
    await expect(states.next()?[0].currentValue, equals: nil)
    let next = try #require(self.client.store(with: ["a"])?.base as? IntStore)
    expect(next.state.initialValue, equals: nil)
    expect(next.subscriberCount, equals: 1)
    next.currentValue = 3
    await expect(states.next()?[0].currentValue, equals: 3)
  }

  @Test
  func `Runs are cancelled, and their results change nothing`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = self.client.store(for: script.query(path: ["a"]))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    let switched = AtomicFlag(false)
    let clearing = Task.immediate { [client] in
      try await client.clearEverything { _ = switched.set(true) }
    }
    try await run.cancelled()
    #expect(!switched.isOn)
    run.yield(2)
    run.succeed(3)
    try await clearing.finished()
    #expect(switched.isOn)
    expect(store.currentValue, equals: nil)
    _ = await fetch.result
    #expect(!self.clock.remainingTimes().contains { $0 <= .seconds(10) })
  }

  @Test
  func `A body that ignores its cancellation is named when the time is over, and calling again continues`() async throws
  {
    let script = IntScript(endsOnCancellation: false)
    let store = self.client.store(for: script.query(path: ["a"]))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    let client = self.client
    let clearing = Task.immediate {
      try await client.clearEverything(within: .seconds(3)) { Issue.record("Something is left.") }
    }
    expect(self.clock.remainingTimes().first, equals: .seconds(3))
    self.clock.advance(by: .seconds(3))
    let error = await #expect(throws: ClearingError.self) { try await clearing.finished() }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("What is left: a run of"))
    guard case .run(let path)? = error?.remaining.first else { throw Refused() }
    expect(path, equals: store.path)
    #expect(client.stores().isEmpty)
    let second = Task.immediate { try await client.clearEverything(within: .seconds(3)) }
    self.clock.advance(by: .seconds(3))
    await #expect(throws: ClearingError.self) { try await second.finished() }
    // The gate is open.
    let other = Task.immediate { try await client.store(for: NumberQuery(4)).fetch() }
    try await expect(other.finished(), equals: 4)
    let again = Task.immediate { try await client.clearEverything() }
    run.succeed(1)
    try await again.finished()
    _ = await fetch.result
    try await client.clearEverything()
  }

  @Test(arguments: [true, false])
  func `Runs of stores that were removed before end, too`(beginsBefore: Bool) async throws {
    let store = self.client.store(for: self.script.query(path: ["a"]))
    if !beginsBefore { self.client.clearStores() }
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    if beginsBefore { self.client.clearStores() }
    try await self.client.clearEverything { #expect(run.isCancelled) }
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: nil)
  }

  // MARK: - What begins meanwhile

  @Test
  func `Runs that begin meanwhile are paused until the users are switched`() async throws {
    let client = self.client
    let switching = Gate()
    let clearing = Task.immediate { try await client.clearEverything { try await switching.wait() } }
    try await switching.arrivals(count: 1)
    let store = client.store(for: self.script.query(path: ["a"]))
    let fetch = Task.immediate { try await store.fetch() }
    #expect(store.isPaused)
    expect(self.script.runCount, equals: 0)
    #expect("\(store.explain())".contains("its client has forgotten the former user"))
    let other = Task.immediate { try await client.store(for: self.script.query(path: ["b"])).fetch() }
    other.cancel()
    await #expect(throws: CancellationError.self) { try await other.finished() }
    expect(self.script.runCount, equals: 0)
    switching.open()
    try await clearing.finished()
    try await self.script.next().succeed(7)
    try await expect(fetch.finished(), equals: 7)
    expect(store.currentValue, equals: 7)
    #expect(!store.isRemoved)
    expect(self.script.runCount, equals: 1)
  }

  @Test
  func `A removed store that is called meanwhile waits, too`() async throws {
    let store = self.client.store(for: self.script.query(path: ["a"]))
    let fetches = Log<Task<Int, any Error>>()
    let script = self.script
    try await self.client.clearEverything {
      fetches.append(Task.detached { try await store.fetch() })
      expect(script.runCount, equals: 0)
    }
    try await script.next().succeed(1)
    for fetch in fetches.all { try await expect(fetch.finished(), equals: 1) }
  }

  @Test
  func `Another client is not concerned`() async throws {
    let client = self.client
    let other = OperationClient()
    try await client.clearEverything {
      let number = try await other.store(for: NumberQuery(3)).fetch()
      expect(number, equals: 3)
    }
    expect(other.stores().count, equals: 1)
  }

  // MARK: - Who calls

  @Test
  func `The run that calls it, and one that waits for that, are neither cancelled nor waited for`() async throws {
    let client = self.client
    let inner = QueryOperation<Int, any Error>("inner") { context in
      try await context.operationClient?.clearEverything { #expect(!Task.isCancelled) }
      #expect(!Task.isCancelled)
      return 1
    }
    let outer = QueryOperation<Int, any Error>("outer") { _ in
      try await client.store(for: inner.sharedRuns()).fetch() + 1
    }
    let (first, second) = (client.store(for: inner.sharedRuns()), client.store(for: outer.sharedRuns()))
    try await expect(second.fetch(), equals: 2)
    expect(first.currentValue, equals: nil)
    expect(second.currentValue, equals: nil)
    #expect(client.stores().isEmpty)
    try await expect(
      client.store(
        for: QueryOperation<Int, any Error>("plain") { context in
          try await context.operationClient?.clearEverything()
          return 5
        }
      ).fetch(),
      equals: 5
    )
  }

  @Test
  func `Another call joins the first, and both end together`() async throws {
    let client = self.client
    let switching = Gate()
    let first = Task.immediate {
      try await client.clearEverything {
        try await switching.wait()
        throw Refused()
      }
    }
    try await switching.arrivals(count: 1)
    let second = Task.immediate { try await client.clearEverything { Issue.record("It joins.") } }
    let third = Task.immediate { try await client.clearEverything() }
    third.cancel()
    await #expect(throws: CancellationError.self) { try await third.finished() }
    switching.open()
    await #expect(throws: Refused.self) { try await first.finished() }
    await #expect(throws: Refused.self) { try await second.finished() }
    try await expect(client.store(for: NumberQuery(3)).fetch(), equals: 3)
    try await client.clearEverything()
  }

  @Test
  func `What switches the users may run operations, and not clear again`() async throws {
    let client = self.client
    try await client.clearEverything {
      let number = try await client.store(for: NumberQuery(3)).fetch()
      expect(number, equals: 3)
      try await expectWarning(.invalidArgument) { try await client.clearEverything() }
    }
    expect(client.store(for: NumberQuery(3)).currentValue, equals: 3)
  }

  @Test
  func `A cancelled call clears everything all the same`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = self.client.store(for: script.query(path: ["a"]), initialValue: 1)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    let switched = AtomicFlag(false)
    let clearing = Task.immediate { [client] in try await client.clearEverything { _ = switched.set(true) } }
    clearing.cancel()
    run.succeed(1)
    await #expect(throws: CancellationError.self) { try await clearing.finished() }
    #expect(switched.isOn)
    #expect(self.client.stores().isEmpty)
    _ = await fetch.result
  }

  // MARK: - What modules hold

  @Test
  func `Attached objects are cleared before the users are switched, and say what is left`() async throws {
    let client = self.client
    let vault = Vault(client: client)
    client.attach(vault)
    _ = client.store(for: NumberQuery(1))
    try await client.clearEverything { expect(vault.clearCount, equals: 1) }
    expect(vault.storesAtClear, equals: [0])
    vault.remaining.value = [.journal(2), .fleet("node")]
    let error = await #expect(throws: ClearingError.self) { try await client.clearEverything() }
    expect(error?.remaining.count, equals: 2)
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("2 journaled calls, values in the fleet of node"))
    vault.remaining.value = []
    vault.door.close()
    let hanging = Task.immediate { try await client.clearEverything() }
    expect(self.clock.remainingTimes().first, equals: .seconds(10))
    self.clock.advance(by: .seconds(10))
    let late = await #expect(throws: ClearingError.self) { try await hanging.finished() }
    guard case .storage("vault", let cause)? = late?.remaining.first else { throw Refused() }
    #expect(cause is Refused)
    vault.door.open()
  }

  @Test
  func `What a context brings with it is attached when the client gets the context`() async throws {
    let client = self.client
    client.defaultContext.addClearing(of: Vault.self) { client in _ = client.attachment { Vault(client: client) } }
    #expect(client.attachment(of: Vault.self) != nil)
    try await client.clearEverything()
    expect(client.attachment(of: Vault.self)?.clearCount, equals: 1)
  }

  @Test
  func `Stores that come while the last ones are being removed are removed, too`() async throws {
    let client = self.client
    let store = client.store(for: NumberQuery(1))
    let subscription = store.subscribe(
      with: OperationEventHandler(onStoreRemoved: { _ in client.store(for: NumberQuery(2)).currentValue = 2 })
    )
    try await client.clearEverything { #expect(client.stores().isEmpty) }
    subscription.cancel()
  }

  @Test
  func `Nothing is left of a client that was cleared`() async throws {
    let lifetimes = LifetimeTracker()
    var client: OperationClient? = OperationClient()
    weak let witness = client
    let script = OperationScript<LifetimeTracker.Token, any Error>()
    for number in 0..<100 {
      let store = client?.store(for: script.query(path: ["token", number]), initialValue: lifetimes.token())
      store?.currentValue = lifetimes.token()
    }
    expect(lifetimes.aliveCount, equals: 200)
    try await client?.clearEverything()
    expect(lifetimes.aliveCount, equals: 0)
    client = nil
    #expect(witness == nil)
  }
}

/// An object that holds data of a user.
private final class Vault: OperationClientClearing {
  let remaining = Box<[ClearingError.Remaining]>([])
  let door = SwitchGate()
  private let counter = Counter()
  private let counts = Log<Int>()
  private weak let client: OperationClient?

  init(client: OperationClient) {
    self.client = client
  }

  var clearCount: Int { self.counter.value }
  var storesAtClear: [Int] { self.counts.all }

  var remainingUntilCleared: [ClearingError.Remaining] { [.storage("vault", Refused())] }

  nonisolated(nonsending) func clear() async -> [ClearingError.Remaining] {
    self.counter.increment()
    self.counts.append(self.client?.stores().count ?? -1)
    await self.door.pass()
    return self.remaining.value
  }
}

/// A gate that can be closed again.
private final class SwitchGate: Sendable {
  private let gate = Box(Gate(isOpen: true))

  func close() { self.gate.value = Gate() }
  func open() { self.gate.value.open() }
  func pass() async { await self.gate.value.waitIgnoringCancellation() }
}

extension QueryRequest {
  /// The query, whose callers share its runs.
  fileprivate func sharedRuns() -> some QueryRequest<Value, Failure> {
    self.context { $0.operationRunSharing = OperationRunSharing() }
  }
}
