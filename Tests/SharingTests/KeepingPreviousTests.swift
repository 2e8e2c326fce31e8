import Observation
import OperationTesting
import SharingOperation
import TestFixtures
import Testing

/// Wrappers that show the value of the operation before, until the other one has a value.
@Suite(.bounded, .warningsAreIssues)
struct KeepingPreviousTests {
  private let client = makeClient(runsAutomatically: false)
  private let first = OperationScript<Int, any Error>()
  private let second = OperationScript<Int, any Error>()

  private func store(_ script: OperationScript<Int, any Error>) -> OperationStore<QueryState<Int, any Error>> {
    self.client.store(for: script.query())
  }

  @Test func `After a move the last value stays, until the other operation has one`() {
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    #expect(!$value.isPrevious)
    value = 1

    $value = SharedOperation(self.second.query(), client: self.client)
    expect(value, equals: 1)
    #expect($value.currentValue == .some(nil))
    #expect($value.isPrevious)
    expect(self.store(self.second).currentValue, equals: nil)
    expect($value.valueUpdateCount, equals: 0)

    self.store(self.second).currentValue = 2
    expect(value, equals: 2)
    #expect(!$value.isPrevious)
    self.store(self.second).resetState()
    expect(value, equals: nil)
    #expect(!$value.isPrevious)
  }

  @Test func `Without keepsPrevious the value is nil at once`() {
    @SharedOperation(self.first.query(), client: self.client) var value
    value = 1
    $value = SharedOperation(self.second.query(), keepsPrevious: true, client: self.client)
    expect(value, equals: nil)
    #expect(!$value.isPrevious)
  }

  @Test func `An operation that has a value shows it at once`() {
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    value = 1
    let known = self.client.store(for: self.second.query(), initialValue: 5)
    $value = SharedOperation(self.second.query(), client: self.client)
    expect(value, equals: 5)
    #expect(!$value.isPrevious)
    withExtendedLifetime(known) {}
  }

  @Test func `The rest of the state is the one of the other operation`() async throws {
    let client = makeClient()
    @SharedOperation(self.first.query(), keepsPrevious: true, client: client) var value
    let shared = $value
    let first = try await self.first.next()
    // Once the run has ended, loading would begin another one.
    let firstLoad = Task.immediate { try await shared.load() }
    first.succeed(1)
    _ = try await firstLoad.value
    expect(value, equals: 1)

    $value = SharedOperation(self.second.query(), client: client)
    let run = try await self.second.next()
    expect(value, equals: 1)
    #expect($value.isLoading)
    #expect($value.isPrevious)
    if case .loading = $value.status {} else { Issue.record("The status is \($value.status).") }
    let load = Task.immediate { try await shared.load() }
    run.succeed(2)
    _ = try await load.value
    expect(value, equals: 2)
    #expect(!$value.isPrevious)
  }

  @Test func `Over several moves the last value that was there stays`() {
    let third = OperationScript<Int, any Error>()
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    value = 1
    $value = SharedOperation(self.second.query(), client: self.client)
    $value = SharedOperation(third.query(), client: self.client)
    expect(value, equals: 1)
    #expect($value.isPrevious)
    self.store(self.second).currentValue = 2
    expect(value, equals: 1)
    self.store(third).currentValue = 3
    expect(value, equals: 3)
    $value = SharedOperation(self.first.query(), client: self.client)
    #expect(!$value.isPrevious)
  }

  @Test func `A failure shows that there is no value, and the next run shows the previous one again`() async throws {
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    value = 1
    $value = SharedOperation(self.second.query(), client: self.client)
    let shared = $value
    let fetch = Task.immediate { try await shared.fetch() }
    try await self.second.next().fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.value }
    expect(value, equals: nil)
    #expect($value.error is Refused)
    #expect(!$value.isPrevious)

    let again = Task.immediate { try await shared.fetch() }
    let run = try await self.second.next()
    expect(value, equals: 1)
    #expect($value.isPrevious)
    run.succeed(2)
    _ = try await again.value
    expect(value, equals: 2)
    #expect(!$value.isPrevious)
  }

  @Test func `A value that is set is the one of the other operation`() {
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    value = 1
    $value = SharedOperation(self.second.query(), client: self.client)
    value = 2
    #expect(!$value.isPrevious)
    expect(self.store(self.second).currentValue, equals: 2)
    expect(self.store(self.first).currentValue, equals: 1)
  }

  @Test func `A wrapper that becomes unbacked forgets the previous value`() {
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    value = 1
    $value = SharedOperation()
    expect(value, equals: nil)
    #expect(!$value.isPrevious)
    $value = SharedOperation(self.second.query(), client: self.client)
    expect(value, equals: nil)
  }

  @Test func `An unbacked wrapper keeps its value when it moves to an operation`() {
    @SharedOperation<QueryState<Int, any Error>>(keepsPrevious: true) var value
    value = 3
    $value = SharedOperation(self.second.query(), client: self.client)
    expect(value, equals: 3)
    #expect($value.isPrevious)
  }

  @Test func `Readers are notified of what they see, and no others`() {
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    let shared = $value
    value = 1
    let ofValue = Watcher { _ = shared.wrappedValue }
    let ofFlag = Watcher { _ = shared.isPrevious }
    let ofLoading = Watcher { _ = shared.isLoading }

    $value = SharedOperation(self.second.query(), client: self.client)
    #expect((ofValue.count, ofFlag.count, ofLoading.count) == (0, 1, 0))
    self.store(self.second).currentValue = 1
    #expect((ofValue.count, ofFlag.count) == (0, 2))
    self.store(self.second).currentValue = 2
    #expect((ofValue.count, ofFlag.count) == (1, 2))
  }

  @Test func `Values that cannot be compared are not confused between operations`() {
    let scripts = (0..<2).map { _ in OperationScript<Opaque, any Error>() }
    @SharedOperation(scripts[0].query(), client: self.client) var value
    let shared = $value
    self.client.store(for: scripts[0].query()).currentValue = Opaque(number: 1)
    self.client.store(for: scripts[1].query()).currentValue = Opaque(number: 2)
    let ofValue = Watcher { _ = shared.wrappedValue }
    // Both stores have set their values once.
    $value = SharedOperation(scripts[1].query(), client: self.client)
    expect(value?.number, equals: 2)
    expect(ofValue.count, equals: 1)
  }

  @Test func `A selected part is compared in what is shown`() {
    let scripts = (0..<2).map { _ in OperationScript<Post, any Error>() }
    @SharedOperation(scripts[0].query(), select: \.name, keepsPrevious: true, client: self.client) var post
    let shared = $post
    post = Post(id: 1)
    let ofValue = Watcher { _ = shared.wrappedValue }
    $post = SharedOperation(scripts[1].query(), client: self.client)
    expect(ofValue.count, equals: 0)
    expect(post?.id, equals: 1)
    self.client.store(for: scripts[1].query()).currentValue = Post(id: 2, likes: 4)
    expect(ofValue.count, equals: 0)
    self.client.store(for: scripts[1].query()).currentValue = Post(id: 2, name: "other")
    expect(ofValue.count, equals: 1)
  }

  @Test func `Pages and default values are kept, too`() async throws {
    let client = self.client
    @SharedOperation(Feed(), keepsPrevious: true, client: client) var feed
    try await $feed.fetchNextPage()
    $feed = SharedOperation(Feed(offset: 5), client: client)
    expect(feed.map(\.value), equals: [[0]])
    #expect($feed.isPrevious)
    try await $feed.fetchNextPage()
    expect(feed.map(\.value), equals: [[5]])
    #expect(!$feed.isPrevious)

    @SharedOperation(self.first.query().defaultValue(9), keepsPrevious: true, client: client) var value
    #expect($value.isPlaceholder)
    value = 1
    #expect(!$value.isPlaceholder)
    $value = SharedOperation(self.second.query().defaultValue(9), client: client)
    expect(value, equals: 1)
    #expect($value.isPrevious)
    #expect(!$value.isPlaceholder)
    client.store(for: self.second.query().defaultValue(9)).currentValue = 2
    expect(value, equals: 2)
    #expect(!$value.isPrevious)
  }

  @Test func `The previous value is released when the other operation has one`() async throws {
    let lifetimes = LifetimeTracker()
    let scripts = (0..<2).map { _ in OperationScript<LifetimeTracker.Token, any Error>() }
    let client = makeClient(runsAutomatically: false)
    let shared = SharedOperation(scripts[0].query(), keepsPrevious: true, client: client)
    shared.wrappedValue = lifetimes.token()
    shared.projectedValue = SharedOperation(scripts[1].query(), client: client)
    client.clearStores(matching: scripts[0].query().path)
    expect(lifetimes.aliveCount, equals: 1)
    let others = LifetimeTracker()
    client.store(for: scripts[1].query()).currentValue = others.token()
    try await lifetimes.noneAlive()
    expect(others.aliveCount, equals: 1)
  }

  @Test @MainActor func `On the main actor the value changes between two jobs`() async throws {
    @SharedOperation(self.first.query(), keepsPrevious: true, client: self.client) var value
    value = 1
    $value = SharedOperation(self.second.query(), client: self.client)
    let shared = $value
    let changed = Gate()
    withObservationTracking {
      _ = shared.wrappedValue
    } onChange: {
      changed.open()
    }
    let store = self.store(self.second)
    let thread = SetterThread { store.currentValue = 2 }
    thread.runAndWait()
    expect(value, equals: 1)
    #expect($value.isPrevious)
    try await changed.wait()
    expect(value, equals: 2)
    #expect(!$value.isPrevious)
  }
}

/// Wrappers that show a placeholder before the first value.
@Suite(.bounded, .warningsAreIssues)
struct WrapperPlaceholderTests {
  private let client = makeClient(runsAutomatically: false)
  private let script = OperationScript<Int, any Error>()

  @Test func `A placeholder is shown until a value comes, and the store does not have it`() async throws {
    @SharedOperation(self.script.query(), placeholder: 7, client: self.client) var value
    let other = SharedOperation(self.script.query(), client: self.client)
    expect(value, equals: 7)
    #expect($value.isPlaceholder)
    #expect(!$value.isPrevious)
    expect(other.wrappedValue, equals: nil)
    #expect(!other.isPlaceholder)
    #expect($value.isStale)
    expect($value.store?.currentValue, equals: .some(nil))
    expect($value.valueUpdateCount, equals: 0)

    self.script.enqueue(.value(7))
    try await $value.fetch()
    expect(value, equals: 7)
    #expect(!$value.isPlaceholder)
    $value.resetState()
    #expect($value.isPlaceholder)
  }

  @Test func `A failure ends it, until the operation runs again`() async throws {
    @SharedOperation(self.script.query(), placeholder: 7, client: self.client) var value
    $value.setResult(to: .failure(Refused()))
    expect(value, equals: nil)
    #expect(!$value.isPlaceholder)
    let shared = $value
    let fetch = Task.immediate { try await shared.fetch() }
    let run = try await self.script.next()
    expect(value, equals: 7)
    #expect($value.isPlaceholder)
    run.succeed(1)
    _ = try await fetch.value
    expect(value, equals: 1)
  }

  @Test func `The previous value comes before the placeholder, which belongs to its operation`() {
    let second = OperationScript<Int, any Error>()
    let third = OperationScript<Int, any Error>()
    @SharedOperation(self.script.query(), keepsPrevious: true, placeholder: 7, client: self.client) var value
    $value = SharedOperation(second.query(), placeholder: 8, client: self.client)
    // A placeholder is no value to keep.
    expect(value, equals: 8)
    #expect($value.isPlaceholder)
    value = 1
    $value = SharedOperation(third.query(), placeholder: 9, client: self.client)
    expect(value, equals: 1)
    #expect($value.isPrevious)
    #expect(!$value.isPlaceholder)
  }

  @Test func `Readers of the flag are notified when it changes`() {
    let shared = SharedOperation(self.script.query(), placeholder: 7, client: self.client)
    let ofFlag = Watcher { _ = shared.isPlaceholder }
    let ofValue = Watcher { _ = shared.wrappedValue }
    shared.wrappedValue = 7
    #expect((ofFlag.count, ofValue.count) == (1, 0))
    shared.wrappedValue = 8
    #expect((ofFlag.count, ofValue.count) == (1, 1))
  }

  @Test func `A default value is a placeholder for all wrappers of its operation`() {
    let query = self.script.query().defaultValue(3)
    let shared = SharedOperation(query, client: self.client)
    let ofFlag = Watcher { _ = shared.isPlaceholder }
    #expect(shared.isPlaceholder)
    #expect(SharedOperation(query, client: self.client).isPlaceholder)
    shared.wrappedValue = 3
    #expect(!shared.isPlaceholder)
    expect(ofFlag.count, equals: 1)
  }

  @Test func `A dated initial value is no placeholder`() {
    let clock = ManualClock()
    let query = self.script.query().stale(after: .seconds(60)).manualTime(clock)
    let shared = SharedOperation(query, initialValue: 2, updatedAt: clock.now(), client: self.client)
    expect(shared.wrappedValue, equals: 2)
    #expect(!shared.isPlaceholder)
    #expect(!shared.isStale)
    clock.advance(by: .seconds(60))
    #expect(shared.isStale)
  }
}
