import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A handler may do anything to the store whose events it receives.
@Suite(.bounded, .warningsAreIssues)
struct ReentrancyTests {
  @Test
  func `A value set inside a handler reaches all handlers after the event that is being delivered`() {
    let store = IntStore.detached(query: IntScript().query())
    let log = Log<String>()
    let first = store.subscribe(
      with: QueryEventHandler { state, _ in
        log.append("first \(state.currentValue ?? 0)")
        if state.currentValue == 1 {
          store.currentValue = 2
          log.append("first has set 2")
          store.currentValue = 3
        }
      }
    )
    let second = store.subscribe(
      with: QueryEventHandler { state, _ in log.append("second \(state.currentValue ?? 0)") }
    )
    defer { OperationSubscription.combined(first, second).cancel() }
    store.currentValue = 1
    expect(
      log.all,
      equals: [
        "first 0", "second 0", "first 1", "first has set 2", "second 1", "first 2", "second 2", "first 3", "second 3",
      ]
    )
  }

  @Test
  func `A setter inside a handler changes the state at once`() {
    let store = IntStore.detached(query: IntScript().query())
    let seen = Box<[Int?]>([])
    let subscription = store.subscribe(
      with: QueryEventHandler { state, _ in
        guard state.currentValue == 1 else { return }
        store.currentValue = 2
        seen.value = [state.currentValue, store.currentValue]
      }
    )
    defer { subscription.cancel() }
    store.currentValue = 1
    expect(seen.value, equals: [1, 2])
  }

  @Test
  func `A subscription inside a handler gets the state, and not the event that is being delivered`() {
    let store = IntStore.detached(query: IntScript().query())
    let inner = IntRecorder()
    let subscriptions = Box<[OperationSubscription]>([])
    let outer = store.subscribe(
      with: QueryEventHandler { state, _ in
        guard state.currentValue == 1, subscriptions.value.isEmpty else { return }
        subscriptions.value = [store.subscribe(with: inner.handler)]
      }
    )
    defer { outer.cancel() }
    store.currentValue = 1
    expect(inner.stateValues, equals: [1])
    store.currentValue = 2
    expect(inner.stateValues, equals: [1, 2])
    expect(store.subscriberCount, equals: 2)
    subscriptions.value = []
    expect(store.subscriberCount, equals: 1)
  }

  @Test
  func `A handler that cancels itself is not called again`() {
    let store = IntStore.detached(query: IntScript().query())
    let calls = Counter()
    let own = Box<OperationSubscription?>(nil)
    own.value = store.subscribe(
      with: QueryEventHandler { state, _ in
        calls.increment()
        if state.currentValue == 1 {
          own.value?.cancel()
          store.currentValue = 2
        }
      }
    )
    store.currentValue = 1
    store.currentValue = 3
    expect(calls.value, equals: 2)
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `A handler that cancels itself while it is being subscribed receives nothing more`() {
    let store = IntStore.detached(query: IntScript().query())
    let recorder = IntRecorder()
    let helper = IntRecorder()
    let other = Box<OperationSubscription?>(nil)
    let subscription = store.subscribe(
      with: QueryEventHandler { state, context in
        recorder.queryHandler.onStateChanged?(state, context)
        if other.value == nil { other.value = store.subscribe(with: helper.handler) }
      }
    )
    expect(recorder.stateValues, equals: [nil])
    expect(helper.stateValues, equals: [nil])
    subscription.cancel()
    store.currentValue = 1
    expect(recorder.stateValues, equals: [nil])
    expect(helper.stateValues, equals: [nil, 1])
    other.value = nil
  }

  @Test
  func `A handler that is cancelled by one before it does not get the event`() {
    let store = IntStore.detached(query: IntScript().query())
    let later = Box<OperationSubscription?>(nil)
    let first = store.subscribe(
      with: QueryEventHandler { state, _ in if state.currentValue == 1 { later.value?.cancel() } }
    )
    let recorder = IntRecorder()
    later.value = store.subscribe(with: recorder.handler)
    let last = IntRecorder()
    let third = store.subscribe(with: last.handler)
    defer { OperationSubscription.combined(first, third).cancel() }
    store.currentValue = 1
    expect(recorder.stateValues, equals: [nil])
    expect(last.stateValues, equals: [nil, 1])
    expect(store.subscriberCount, equals: 2)
  }

  @Test
  func `A handler may run the operation`() async throws {
    let script = IntScript(default: .value(10))
    let store = IntStore.detached(query: script.query())
    let results = Box<Task<Int, any Error>?>(nil)
    let recorder = IntRecorder()
    let first = store.subscribe(
      with: QueryEventHandler { state, _ in
        if state.currentValue == 1, !state.isLoading { results.value = Task.immediate { try await store.fetch() } }
      }
    )
    let second = store.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined(first, second).cancel() }
    store.currentValue = 1
    let task = try #require(results.value)
    try await expect(task.finished(), equals: 10)
    try await recorder.events(count: 7)
    expect(
      recorder.digests,
      equals: [
        .state(nil), .state(1), .state(1, isLoading: true), .started, .state(10), .returned(10), .ended,
      ]
    )
  }

  @Test
  func `A handler may reset the store, whose run is cancelled`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let recorder = IntRecorder()
    let first = store.subscribe(
      with: QueryEventHandler { state, _ in if state.currentValue == 2 { store.resetState() } }
    )
    let second = store.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined(first, second).cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    run.yield(2)
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(
      recorder.digests,
      equals: [
        .state(1), .state(1, isLoading: true), .started, .state(2, isLoading: true), .yielded(2), .state(1), .ended,
      ]
    )
    expect(store.valueUpdateCount, equals: 0)
  }

  @Test
  func `A handler may cancel the task that it is notified of`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 1)
    let subscription = store.subscribe(
      with: QueryEventHandler(
        onStateChanged: { state, _ in if state.currentValue == 2 { for task in state.activeTasks { task.cancel() } } }
      )
    )
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    try await script.next().yield(2)
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: 1)
    expect(store.valueUpdateCount, equals: 0)
    #expect(!store.isLoading)
  }

  @Test
  func `A handler may have exclusive access`() {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    let recorder = IntRecorder()
    let first = store.subscribe(
      with: QueryEventHandler { state, _ in
        guard let value = state.currentValue, value < 3 else { return }
        store.withExclusiveAccess { $0.currentValue = ($0.currentValue ?? 0) + 1 }
      }
    )
    let second = store.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined(first, second).cancel() }
    expect(store.currentValue, equals: 3)
    expect(recorder.stateValues, equals: [3])
  }

  @Test
  func `The last reference to a store may be released inside a handler`() {
    let box = Box<IntStore?>(IntStore.detached(query: IntScript().query()))
    weak let witness = box.value
    let recorder = IntRecorder()
    let first = box.value?.subscribe(
      with: QueryEventHandler { state, _ in if state.currentValue == 1 { box.value = nil } }
    )
    let second = box.value?.subscribe(with: recorder.handler)
    defer { OperationSubscription.combined([first, second].compactMap(\.self)).cancel() }
    box.value?.currentValue = 1
    #expect(box.value == nil)
    #expect(witness == nil)
    expect(recorder.stateValues.first, equals: .some(nil))
  }

  @Test
  func `A handler that sets a value at each event until a limit loses none`() {
    let store = IntStore.detached(query: IntScript().query(), initialValue: 0)
    let recorders = (0..<3).map { _ in IntRecorder() }
    let subscriptions = recorders.map { store.subscribe(with: $0.handler) }
    let driver = store.subscribe(
      with: QueryEventHandler { state, _ in
        if let value = state.currentValue, value < 1_000 { store.currentValue = value + 1 }
      }
    )
    defer { OperationSubscription.combined(subscriptions + [driver]).cancel() }
    for recorder in recorders { expect(recorder.stateValues, equals: Array(0...1_000)) }
  }
}
