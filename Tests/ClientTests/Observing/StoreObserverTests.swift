import CoreFixtures
import OperationPausing
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// `StoreObserver`: what happens in stores.
@Suite(.bounded, .warningsAreIssues)
struct StoreObserverTests {
  private let client = OperationClient()
  private let clock = ManualClock()
  private let script = IntScript()

  private var query: ContextModifiedOperation<IntQuery> { self.script.query(path: ["a"]).manualTime(self.clock) }

  // MARK: - Events

  @Test
  func `A run is its beginning, its yields, and its end with outcome and duration`() async throws {
    let observer = EventLog()
    let subscription = self.client.observe(with: observer)
    let store = self.client.store(for: self.query)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(1)
    self.clock.advance(by: .seconds(2))
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
    expect(
      observer.texts,
      equals: [
        "observed", "added", "began", "state nil loading", "active 0", "yielded 1", "state 1 loading",
        "ended 2 after 2.0 seconds", "state 2", "idle 0",
      ]
    )
    subscription.cancel()
    expect(observer.texts.last, equals: "unobserved")
  }

  @Test
  func `Failures, cancellations and joins are told apart`() async throws {
    let observer = EventLog(.runs)
    let shared = self.query.context { $0.operationRunSharing = OperationRunSharing() }
    let store = self.client.store(for: shared)
    let subscription = store.reference.observe(with: observer)
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let second = Task.immediate { try await store.fetch() }
    run.fail(Refused())
    _ = await (first.result, second.result)
    let cancelled = Task.immediate { try await store.fetch() }
    _ = try await self.script.next()
    cancelled.cancel()
    _ = await cancelled.result
    // The caller leaves at once, and the run ends after it.
    await store.settled()
    expect(
      observer.texts,
      equals: [
        "observed", "began", "joined", "ended Refused(code: 0) after 0.0 seconds", "began",
        "ended cancelled after 0.0 seconds",
      ]
    )
    subscription.cancel()
  }

  @Test
  func `Writes have their causes, and come before the state`() {
    let observer = EventLog([.writes, .states])
    let store = self.client.store(for: self.query)
    let subscription = store.reference.observe(with: observer)
    store.currentValue = 1
    store.setResult(to: .failure(Refused()))
    self.client.invalidate(matching: ["a"])
    store.resetState()
    expect(
      observer.texts,
      equals: [
        "observed", "valueSet by call", "state 1", "errorSet by call", "state 1", "invalidated by invalidation",
        "reset by call", "state nil",
      ]
    )
    subscription.cancel()
  }

  @Test
  func `Subscribers are counted after they came and left`() {
    let observer = EventLog([.subscribers, .activity])
    let store = self.client.store(for: self.query)
    let observation = store.reference.observe(with: observer)
    let first = store.subscribe(named: "One")
    let second = store.subscribe(with: OperationEventHandler())
    first.cancel()
    second.cancel()
    expect(
      observer.texts,
      equals: ["observed", "came One 1", "active 1", "came - 2", "left One 1", "left - 0", "idle 0"]
    )
    observation.cancel()
  }

  @Test
  func `Attempts, pauses and notices of a run are events`() async throws {
    let isOpen = SwitchSpecification(false)
    let query = QueryOperation<Int, any Error>("b") { context in
      context.attemptFailed(with: Refused(), nextAfter: .seconds(1))
      var next = context
      next.beginNextAttempt(after: Refused())
      next.send(OperationNotice(OperationNotice.Name("quota.exceeded"), attributes: [:]))
      return 1
    }
    let observer = EventLog([.attempts, .waits, .notices])
    let store = self.client.store(for: query.waits(until: isOpen).manualTime(self.clock))
    let observation = store.reference.observe(with: observer)
    let fetch = Task.immediate { try await store.fetch() }
    try await store.reached { $0.isPaused }
    self.clock.advance(by: .seconds(3))
    isOpen.set(true)
    try await expect(fetch.finished(), equals: 1)
    expect(
      observer.texts,
      equals: [
        "observed", "pause began", "notice run.paused", "pause ended after 3.0 seconds satisfied",
        "notice run.resumed", "attempt 1 failed", "attempt 2 began", "notice quota.exceeded",
      ]
    )
    observation.cancel()
  }

  @Test
  func `An observer receives the kinds that it asks for`() {
    let observer = EventLog([])
    let store = self.client.store(for: self.query)
    let observation = store.reference.observe(with: observer)
    store.currentValue = 1
    observation.cancel()
    expect(observer.texts, equals: ["observed", "unobserved"])
  }

  // MARK: - Order

  @Test
  func `Observers come after the handlers, those of the setup first, then the store's, then the client's`() {
    let log = Log<String>()
    let query = self.query.context { $0.operationObservers.append(NamedObserver("setup", log)) }
    let client = self.client.observe(with: NamedObserver("client", log))
    let store = self.client.store(for: query)
    let added = store.reference.observe(with: NamedObserver("store", log))
    let handler = store.subscribe(
      with: OperationEventHandler(onStateChanged: { state, _ in log.append("handler \(state.currentValue ?? 0)") })
    )
    store.currentValue = 1
    expect(log.all, equals: ["handler 0", "handler 1", "setup", "store", "client"])
    _ = (client, added, handler)
  }

  @Test
  func `What an observer changes is delivered after the present event, to all`() {
    let log = Log<String>()
    let store = self.client.store(for: self.query)
    let first = store.reference.observe(
      with: ClosureObserver(.states) { event, reference in
        guard case .stateChanged(let shown) = event.what else { return }
        let value = shown.state(as: QueryState<Int, any Error>.self)?.currentValue ?? nil
        log.append("first \(value ?? 0)")
        if value == 1 { reference.store?.uncheckedSetCurrentValue(2) }
      }
    )
    let second = store.reference.observe(
      with: ClosureObserver(.states) { event, _ in
        guard case .stateChanged(let shown) = event.what else { return }
        log.append("second \((shown.state(as: QueryState<Int, any Error>.self)?.currentValue ?? nil) ?? 0)")
      }
    )
    store.currentValue = 1
    expect(log.all, equals: ["first 1", "second 1", "first 2", "second 2"])
    _ = (first, second)
  }

  @Test
  func `During exclusive access events wait until it ends`() {
    let observer = EventLog(.writes)
    let store = self.client.store(for: self.query)
    let observation = store.reference.observe(with: observer)
    store.withExclusiveAccess { store in
      store.currentValue = 1
      store.currentValue = 2
      expect(observer.texts, equals: ["observed"])
    }
    expect(observer.texts, equals: ["observed", "valueSet by call", "valueSet by call"])
    observation.cancel()
  }

  // MARK: - Adding and removing

  @Test
  func `An observer that is added twice receives each event once, and leaves with its last subscription`() {
    let observer = EventLog(.writes)
    let store = self.client.store(for: self.query)
    let first = store.reference.observe(with: observer)
    let second = store.reference.observe(with: observer)
    let third = self.client.observe(with: observer)
    store.currentValue = 1
    first.cancel()
    second.cancel()
    store.currentValue = 2
    third.cancel()
    store.currentValue = 3
    expect(observer.texts, equals: ["observed", "valueSet by call", "valueSet by call", "unobserved"])
  }

  @Test
  func `An observer can be looked up by its type, and is added once`() throws {
    let store = self.client.store(for: self.query)
    let first = try #require(store.reference.observer { EventLog(.writes) })
    let second = try #require(store.reference.observer { EventLog(.writes) })
    #expect(first === second)
    store.currentValue = 1
    expect(first.texts, equals: ["observed", "valueSet by call"])
  }

  @Test
  func `A client observes the stores of a prefix, present and later ones, and leaves what it removes`() {
    let observer = EventLog(.membership, namesPaths: true)
    let present = self.client.store(for: self.script.query(path: ["posts", 1]))
    let other = self.client.store(for: self.script.query(path: ["users", 1]))
    let subscription = self.client.observe(matching: ["posts"], with: observer)
    let later = self.client.store(for: self.script.query(path: ["posts", 2]))
    self.client.clearStore(with: ["posts", 1])
    present.currentValue = 1
    self.client.withStores(matching: ["posts"], of: QueryState<Int, any Error>.self) { stores, createStore in
      stores.update(createStore(for: self.script.query(path: ["posts", 2])))
    }
    subscription.cancel()
    let two = #"["posts", 2]"#
    expect(
      observer.texts,
      equals: [
        #"["posts", 1] observed"#, "\(two) observed", "\(two) added", #"["posts", 1] removed cleared"#,
        #"["posts", 1] unobserved"#, "\(two) observed", "\(two) removed replaced", "\(two) unobserved",
        "\(two) added", "\(two) unobserved",
      ]
    )
    _ = (other, later)
  }

  @Test
  func `A store that is gone is removed and unobserved, with its path`() {
    let clock = ManualClock()
    let observer = EventLog(.membership, namesPaths: true)
    let subscription = self.client.observe(with: observer)
    do {
      let store = self.client.store(for: self.script.query(path: ["a"]).cacheTime(.seconds(1)).manualTime(clock))
      _ = store
    }
    clock.advance(by: .seconds(1))
    expect(
      observer.texts,
      equals: [
        #"["a"] observed"#, #"["a"] added"#, #"["a"] removed evicted"#, #"["a"] unobserved"#,
      ]
    )
    subscription.cancel()
  }

  @Test
  func `The observer of a setup lives with its store`() {
    let observer = EventLog(.writes)
    weak var released: EventLog?
    do {
      let store = OperationStore<QueryState<Int, any Error>>.detached(
        query: self.query.context { $0.operationObservers.append(observer) }
      )
      store.currentValue = 1
      let other = EventLog(.writes)
      released = other
      _ = store.reference.observer { other }
    }
    expect(observer.texts, equals: ["observed", "valueSet by call", "unobserved"])
    #expect(released == nil)
  }

  @Test
  func `The observers of a setup do not follow a context to another operation`() async throws {
    let observer = EventLog(.writes)
    let store = self.client.store(for: self.query.context { $0.operationObservers.append(observer) })
    let other = OperationStore.detached(
      query: self.script.query(path: ["b"]),
      initialContext: store.context
    )
    other.currentValue = 1
    expect(observer.texts, equals: ["observed"])
  }

  @Test
  func `An observer is called with no lock held`() async throws {
    let query = self.query.context { $0.operationRunSharing = OperationRunSharing() }
    let store = self.client.store(for: query)
    let client = self.client
    let observer = ClosureObserver(.all) { event, reference in
      expect(event.runtime?.lock.isOwnedByCurrentThread, equals: false)
      // These would not return with the lock of the client held.
      _ = client.stores(matching: [])
      reference.observe(with: EventLog([])).cancel()
    }
    let subscription = self.client.observe(with: observer)
    store.currentValue = 1
    self.client.invalidate(matching: [])
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(1)
    _ = try await fetch.finished()
    self.client.clearStores()
    subscription.cancel()
    #expect(observer.count > 8)
  }
}

// MARK: - Observers

/// Keeps events as text.
private final class EventLog: StoreObserver {
  let observedEvents: StoreEvent.Kinds
  private let namesPaths: Bool
  private let log = Log<String>()

  init(_ kinds: StoreEvent.Kinds = .all, namesPaths: Bool = false) {
    self.observedEvents = kinds
    self.namesPaths = namesPaths
  }

  var texts: [String] { self.log.all }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    self.log.append((self.namesPaths ? "\(event.path) " : "") + Self.text(of: event))
  }

  private static func text(of event: StoreEvent) -> String {
    let cause = event.cause.map { " by \($0.kind)" } ?? ""
    switch event.what {
    case .observed: return "observed"
    case .unobserved: return "unobserved"
    case .addedToClient: return "added"
    case .removedFromClient(let removal): return "removed \(removal)"
    case .subscriberCame(let name, let count): return "came \(name ?? "-") \(count)"
    case .subscriberLeft(let name, let count): return "left \(name ?? "-") \(count)"
    case .activityChanged(let isRunning, let count): return isRunning || count > 0 ? "active \(count)" : "idle \(count)"
    case .runBegan: return "began"
    case .runJoined: return "joined"
    case .runEnded(let end): return "ended \(Self.text(of: end.outcome)) after \(end.duration ?? .zero)"
    case .attemptFailed(let attempt): return "attempt \(attempt.index) failed"
    case .attemptBegan(let attempt): return "attempt \(attempt.index) began"
    case .waitBegan(let wait): return wait.isPause ? "pause began" : "wait began"
    case .waitEnded(_, let time, let end): return "pause ended after \(time) \(end)"
    case .yielded(let outcome): return "yielded \(Self.text(of: outcome))"
    case .stateChanged(let shown):
      let state = shown.state(as: QueryState<Int, any Error>.self)
      let value = state?.currentValue ?? nil
      return "state \(value.map { "\($0)" } ?? "nil")" + (state?.isLoading == true ? " loading" : "")
    case .stateWritten(let write): return "\(write.rawValue)\(cause)"
    case .invalidated: return "invalidated\(cause)"
    case .notice(let notice): return "notice \(notice.name)"
    }
  }

  private static func text(of outcome: StoreOutcome?) -> String {
    guard let outcome else { return "cancelled" }
    return outcome.error.map { "\($0)" } ?? outcome.value(as: Int.self).map { "\($0)" } ?? "?"
  }
}

private final class NamedObserver: StoreObserver {
  private let name: String
  private let log: Log<String>

  init(_ name: String, _ log: Log<String>) {
    self.name = name
    self.log = log
  }

  var observedEvents: StoreEvent.Kinds { .states }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .stateChanged = event.what { self.log.append(self.name) }
  }
}

private final class ClosureObserver: StoreObserver {
  let observedEvents: StoreEvent.Kinds
  private let body: @Sendable (StoreEvent, StoreReference) -> Void
  private let calls = Atomic(0)

  init(_ kinds: StoreEvent.Kinds, _ body: @escaping @Sendable (StoreEvent, StoreReference) -> Void) {
    self.observedEvents = kinds
    self.body = body
  }

  var count: Int { self.calls.load(ordering: .relaxed) }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    self.calls.add(1, ordering: .relaxed)
    self.body(event, store)
  }
}
