import Observation
import OperationPlatform
import OperationTesting
import SharingOperation
import TestFixtures
import Testing

/// Wrappers and models that are created on the main actor.
@MainActor
@Suite(.bounded, .warningsAreIssues)
struct MainActorTests {
  @Test func `Nothing changes between two reads of one job, and everything before the next job`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient()) var value
    let shared = $value
    #expect($value.isLoading)
    let run = try await script.next()
    let changed = Gate()
    withObservationTracking {
      _ = shared.wrappedValue
    } onChange: {
      changed.open()
    }
    let store = try #require($value.store)

    // Blocks the main actor until another thread has delivered the new state.
    await Task { @concurrent in
      let delivered = Gate()
      let subscription = store.subscribe(
        with: OperationEventHandler(onStateChanged: { state, _ in if state.currentValue == 1 { delivered.open() } })
      )
      run.succeed(1)
      await delivered.waitIgnoringCancellation()
      subscription.cancel()
    }.value
    try await changed.wait()

    expect(value, equals: 1)
    #expect(!$value.isLoading)
  }

  @Test func `A change on another thread waits for the main actor`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value
    let store = try #require($value.store)
    let changed = Gate()
    let shared = $value
    withObservationTracking {
      _ = shared.wrappedValue
    } onChange: {
      changed.open()
    }

    let thread = SetterThread { store.currentValue = 1 }
    thread.runAndWait()

    expect(store.currentValue, equals: 1)
    expect(value, equals: nil)
    #expect(!changed.isOpen)
    try await changed.wait()
    expect(value, equals: 1)
  }

  /// Its wrappers are the initial values of properties, which are made without isolation.
  private final class Model {
    nonisolated static let client = makeClient(runsAutomatically: false)
    @SharedOperation(QueryOperation<Int, any Error>("number") { _ in 0 }, client: Model.client) var number
  }

  @Test func `A wrapper in a property of a class on the main actor changes there only`() async throws {
    let model = Model()
    let store = try #require(model.$number.store)
    let changed = Gate()
    let shared = model.$number
    withObservationTracking {
      _ = shared.wrappedValue
    } onChange: {
      changed.open()
    }

    SetterThread { store.currentValue = 1 }.runAndWait()

    expect(store.currentValue, equals: 1)
    expect(model.number, equals: nil)
    #expect(!changed.isOpen)
    try await changed.wait()
    expect(model.number, equals: 1)
  }

  private final class LoadingModel {
    nonisolated static let threads = Log<UInt>()
    @SharedOperation(LoadingModel.query, client: makeClient()) var number

    nonisolated static let query = QueryOperation<Int, any Error>("number") { _ in
      LoadingModel.threads.append(CurrentThread.identifier)
      return 1
    }
  }

  @Test func `The run of such a wrapper does not begin on the thread of the main actor`() async throws {
    let model = LoadingModel()
    _ = try await model.$number.load()
    #expect(LoadingModel.threads.count > 0)
    #expect(!LoadingModel.threads.all.contains(CurrentThread.identifier))
  }

  @Test func `Calls that the main actor begins one after the other are made in that order`() async throws {
    let arrivals = Log<Int>()
    let mutation = MutationOperation<Int, Int, any Error>("save") { number, _ in arrivals.append(number) }
    @SharedOperation(mutation.scope("notes"), client: makeClient()) var saved
    let shared = $saved

    let calls = (0..<2_000).map { number in Task { try await shared.mutate(with: number) } }
    for call in calls { _ = try await call.value }

    expect(arrivals.all, equals: Array(0..<2_000))
  }

  @Test func `The body of an enqueued call does not run on the thread of the main actor`() async throws {
    let threads = Log<UInt>()
    let mutation = MutationOperation<Int, Int, any Error>("save") { number, _ in
      threads.append(CurrentThread.identifier)
      return number
    }
    let store = makeClient().store(for: mutation.scope("notes"))
    let calls = (0..<5).map { store.enqueue(with: $0) }
    for (number, call) in calls.enumerated() { try await expect(call.result, equals: number) }
    #expect(threads.count == 5 && !threads.all.contains(CurrentThread.identifier))
  }

  @Test func `The effect of a setter can be read at once, and that of a call when it returns`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(2))
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value
    let shared = $value
    let watcher = Watcher { _ = shared.wrappedValue }

    value = 1
    expect(value, equals: 1)
    expect(watcher.count, equals: 1)
    try await $value.fetch()
    expect(value, equals: 2)
    #expect(!$value.isLoading)
    expect(watcher.count, equals: 2)
  }

  @Test func `A reader on another thread sees the state of the store`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value
    let store = try #require($value.store)
    let shared = $value

    let read = await Task { @concurrent in
      store.currentValue = 3
      return shared.wrappedValue
    }.value

    expect(read, equals: 3)
  }

  @Test func `Ten thousand changes on other threads are one update for the main actor`() async throws {
    let script = OperationScript<Int, any Error>()
    @SharedOperation(script.query(), client: makeClient(runsAutomatically: false)) var value
    let store = try #require($value.store)
    let shared = $value
    let watcher = Watcher { _ = shared.wrappedValue }
    let changed = Gate()
    withObservationTracking {
      _ = shared.wrappedValue
    } onChange: {
      changed.open()
    }

    SetterThread { for number in 1...10_000 { store.currentValue = number } }.runAndWait()
    expect(value, equals: nil)
    try await changed.wait()

    expect(value, equals: 10_000)
    expect(watcher.count, equals: 1)
  }

  @Test func `An observable model tracks its reads`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(4))
    let store = OperationStore.detached(query: script.query().disableAutomaticRunning())
    let model = store.makeObservable()
    let ofValue = Watcher { MainActor.assumeIsolated { _ = model.currentValue } }
    let ofLoading = Watcher { MainActor.assumeIsolated { _ = model.isLoading } }

    model.currentValue = 3
    expect(model.currentValue, equals: 3)
    expect(ofValue.count, equals: 1)
    expect(ofLoading.count, equals: 0)
    expect(store.subscriberCount, equals: 1)
    #expect(model.store === store)
  }

  @Test func `An observable model ends its subscription when it is released`() {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query().disableAutomaticRunning())
    var model: ObservableStore? = store.makeObservable()
    expect(store.subscriberCount, equals: 1)

    model = nil

    #expect(model == nil)
    expect(store.subscriberCount, equals: 0)
  }
}
