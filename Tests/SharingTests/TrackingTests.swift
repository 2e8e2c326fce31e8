import Observation
import OperationTesting
import SharingOperation
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct TrackingTests {
  private let client = makeClient(runsAutomatically: false)

  @Test func `A reader is notified only of changes of the property that it reads`() async throws {
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let ofValue = Watcher { _ = shared.wrappedValue }
    let ofLoading = Watcher { _ = shared.isLoading }

    shared.wrappedValue = 1
    expect(ofValue.count, equals: 1)
    expect(ofLoading.count, equals: 0)

    async let fetched = shared.fetch()
    let run = try await script.next()
    expect(ofLoading.count, equals: 1)
    expect(ofValue.count, equals: 1)
    run.succeed(1)
    _ = try await fetched

    expect(ofLoading.count, equals: 2)
    expect(ofValue.count, equals: 1)
  }

  @Test func `An equal value set again notifies no reader of the value`() {
    let script = OperationScript<Post, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let ofValue = Watcher { _ = shared.wrappedValue }
    let ofCount = Watcher { _ = shared.valueUpdateCount }

    shared.wrappedValue = Post(id: 1)
    shared.wrappedValue = Post(id: 1)
    shared.wrappedValue = Post(id: 1)

    expect(ofValue.count, equals: 1)
    expect(ofCount.count, equals: 3)
  }

  @Test func `A value that is not equatable notifies when it is set, and not when another property changes`() {
    let script = OperationScript<Opaque, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let ofValue = Watcher { _ = shared.wrappedValue }

    shared.wrappedValue = Opaque(number: 1)
    shared.wrappedValue = Opaque(number: 1)
    shared.setResult(to: .failure(Refused()))

    expect(ofValue.count, equals: 2)
  }

  @Test func `A value with padding notifies only when it is set`() {
    let script = OperationScript<Padded, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let ofValue = Watcher { _ = shared.wrappedValue }
    let ofStatus = Watcher { _ = shared.status }

    for number in 1...100 {
      shared.wrappedValue = Padded(number: number)
      for _ in 1...3 { shared.setResult(to: .failure(Refused())) }
    }

    expect(ofValue.count, equals: 100)
    // Each value, and the first of the equal errors after it.
    expect(ofStatus.count, equals: 200)
  }

  @Test func `A value that does not equal itself notifies once when it is set again`() {
    let number = SharedOperation(
      OperationScript<Double, any Error>().query(),
      client: makeClient(runsAutomatically: false)
    )
    let reading = SharedOperation(OperationScript<Reading, any Error>().query(), client: self.client)
    let ofNumber = Watcher { _ = number.wrappedValue }
    let ofStatus = Watcher { _ = number.status }
    let ofReading = Watcher { _ = reading.wrappedValue }

    for _ in 1...3 { number.wrappedValue = .nan }
    expect(ofNumber.count, equals: 1)
    expect(ofStatus.count, equals: 1)
    number.wrappedValue = 1
    expect(ofNumber.count, equals: 2)

    for _ in 1...3 { reading.wrappedValue = Reading(place: 1, degrees: .nan, former: [1, .nan]) }
    expect(ofReading.count, equals: 1)
    reading.wrappedValue = Reading(place: 2, degrees: .nan, former: [1, .nan])
    expect(ofReading.count, equals: 2)
    reading.wrappedValue = Reading(place: 2, degrees: .nan, former: [2, .nan])
    expect(ofReading.count, equals: 3)
  }

  @Test func `A layer over a value that is not equatable notifies, and so does its end`() throws {
    let script = OperationScript<Padded, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    shared.wrappedValue = Padded(number: 1)
    let ofValue = Watcher { _ = shared.wrappedValue }
    let store = OpaqueOperationStore(erasing: self.client.store(for: script.query()))

    let layer = StateLayerIdentifier()
    let isAdded = store.addLayer(layer, over: QueryState<Padded, any Error>.self) { $0?.number = 2 }
    #expect(isAdded)
    expect(ofValue.count, equals: 1)
    expect(shared.wrappedValue?.number, equals: 2)
    store.removeLayer(layer)

    expect(ofValue.count, equals: 2)
    expect(shared.wrappedValue?.number, equals: 1)
  }

  @Test func `A member that is not equatable is compared by its fields`() {
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let ofTasks = Watcher { _ = shared.activeTasks }

    for number in 1...3 { shared.wrappedValue = number }

    expect(ofTasks.count, equals: 0)
  }

  @Test func `Readers of a status that is not equatable are notified when a part of it differs`() {
    let script = OperationScript<Post, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let ofStatus = Watcher { _ = shared.status }
    let ofError = Watcher { _ = shared.error }

    shared.wrappedValue = Post(id: 1)
    shared.wrappedValue = Post(id: 1)
    expect(ofStatus.count, equals: 1)
    expect(ofError.count, equals: 0)
    shared.setResult(to: .failure(Refused()))
    shared.setResult(to: .failure(Refused()))
    expect(ofStatus.count, equals: 2)
    expect(ofError.count, equals: 1)
  }

  @Test func `Readers of a selection are notified only when it changes`() {
    let script = OperationScript<Post, any Error>()
    let byName = SharedOperation(script.query(), select: \.name, client: self.client)
    let byBody = SharedOperation(script.query(), select: { $0.likes / 10 }, client: self.client)
    let ofName = Watcher { _ = byName.wrappedValue?.name }
    let ofTens = Watcher { _ = byBody.wrappedValue?.likes }

    byName.wrappedValue = Post(id: 1)
    expect(ofName.count, equals: 1)
    expect(ofTens.count, equals: 1)
    byName.wrappedValue = Post(id: 1, likes: 9)
    expect(ofName.count, equals: 1)
    expect(ofTens.count, equals: 1)
    byName.wrappedValue = Post(id: 1, likes: 10)
    expect(ofName.count, equals: 1)
    expect(ofTens.count, equals: 2)
    byName.wrappedValue = Post(id: 1, name: "another", likes: 10)
    expect(ofName.count, equals: 2)
    expect(ofTens.count, equals: 2)
  }

  @Test func `The new value can be read when a reader is notified`() {
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let seen = Mutex<[Int?]>([])
    withObservationTracking {
      _ = shared.wrappedValue
    } onChange: {
      let value = shared.wrappedValue
      seen.withLock { $0.append(value) }
    }

    shared.wrappedValue = 1

    expect(seen.withLock { $0 }, equals: [1])
  }

  @Test func `A reader may change the value while it is notified`() {
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    withObservationTracking {
      _ = shared.wrappedValue
    } onChange: {
      if shared.wrappedValue == 1 { shared.wrappedValue = 2 }
    }

    shared.wrappedValue = 1

    expect(shared.wrappedValue, equals: 2)
    expect(shared.valueUpdateCount, equals: 2)
  }

  @Test func `Observations yields the values in order`() async throws {
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    shared.wrappedValue = 0

    var seen: [Int?] = []
    for await value in Observations({ shared.wrappedValue }) {
      seen.append(value)
      if seen.count == 5 { break }
      shared.wrappedValue = seen.count
    }

    expect(seen, equals: [0, 1, 2, 3, 4])
  }

  @Test func `Many threads set and read, and every read is notified`() async throws {
    let script = OperationScript<Int, any Error>()
    let shared = SharedOperation(script.query(), client: self.client)
    let notifications = Counter()

    await withTaskGroup { group in
      for thread in 0..<8 {
        group.addTask {
          for number in 0..<200 {
            shared.wrappedValue = thread * 1_000 + number
            withObservationTracking {
              _ = shared.wrappedValue
              _ = shared.valueUpdateCount
            } onChange: {
              notifications.increment()
            }
          }
        }
      }
    }
    let watcher = Watcher { _ = shared.wrappedValue }
    shared.wrappedValue = -1

    expect(shared.valueUpdateCount, equals: 1_601)
    expect(watcher.count, equals: 1)
    #expect(notifications.value >= 1_600)
  }

  @Test func `Ten thousand wrappers share one store, and retain nothing after their release`() async throws {
    let tracker = LifetimeTracker()
    let script = OperationScript<LifetimeTracker.Token, any Error>()
    var wrappers = (0..<10_000).map { _ in SharedOperation(script.query(), client: self.client) }
    let store = try #require(wrappers[0].store)
    expect(store.subscriberCount, equals: 10_000)
    let watchers = wrappers.prefix(100).map { wrapper in Watcher { _ = wrapper.wrappedValue } }

    store.currentValue = tracker.token()
    #expect(watchers.allSatisfy { $0.count == 1 })
    wrappers = []
    expect(store.subscriberCount, equals: 100)
    _ = consume watchers

    expect(store.subscriberCount, equals: 0)
    store.currentValue = nil
    try await tracker.noneAlive()
  }
}
