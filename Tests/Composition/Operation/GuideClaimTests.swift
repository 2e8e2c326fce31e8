import Operation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Claims of the guides about modifiers, contexts, staleness and values that no other test covers.
@Suite(.bounded)
struct GuideClaimTests {
  private let script = OperationScript<Int, any Error>()

  private func query(_ path: OperationPath = ["guide"]) -> ScriptedQuery<Int, any Error> {
    self.script.query(path: path)
  }

  @Test
  func `A later store(for:) finds the store with its first modifiers`() {
    let client = OperationClient()
    let clock = ManualClock()
    client.defaultContext.use(clock)
    let first = client.store(for: self.query().stale(after: .seconds(60)))
    let second = expectWarning(.modifiersIgnored) { client.store(for: self.query().stale(after: .seconds(5))) }
    #expect(first === second)
    first.currentValue = 1
    clock.advance(by: .seconds(59))
    #expect(!second.isStale)
    clock.advance(by: .seconds(1))
    #expect(second.isStale)
  }

  @Test
  func `Other modifiers and other values of them are reported`() {
    let warnings = WarningRecorder()
    warnings.recording {
      let client = OperationClient()
      _ = client.store(for: self.query().retry(limit: 1))
      _ = client.store(for: self.query().retry(limit: 2))
      // Once for a store.
      _ = client.store(for: self.query().deduplicated())
    }
    #if DEBUG
      expect(warnings.warnings.map(\.code), equals: [.modifiersIgnored])
    #endif
  }

  @Test
  func `Only the entries that are set in the context of a call replace those of the store`() async throws {
    let store = OperationStore.detached(query: self.query().retry(limit: 3).backoff(.noBackoff))
    self.script.enqueue(.error(Refused()), .value(2))
    var context = OperationContext()
    context.operationMaxRetries = 0
    await #expect(throws: Refused.self) { try await store.fetch(using: context) }
    expect(store.context.operationMaxRetries, equals: 3)
    try await expect(store.fetch(), equals: 2)
  }

  @Test
  func `The defaults of a creator replace the default context, and modifiers replace both`() {
    let client = OperationClient(storeCreator: .default(backoff: .constant(.seconds(2)), networkObserver: nil))
    client.defaultContext.operationBackoffFunction = .constant(.seconds(1))
    let plain = client.store(for: self.query(["plain"]))
    expect(plain.context.operationBackoffFunction(1), equals: .seconds(2))
    let inner = self.query(["inner"]).backoff(.constant(.seconds(3))).backoff(.constant(.seconds(4)))
    expect(client.store(for: inner).context.operationBackoffFunction(1), equals: .seconds(3))
  }

  @Test
  func `An initial value is no result, and only the first request uses it`() {
    let client = OperationClient()
    let query = self.query().stale(after: .seconds(60))
    let store = client.store(for: query, initialValue: 1)
    expect(client.store(for: query, initialValue: 2).currentValue, equals: 1)
    #expect(store.status.isIdle)
    expect(store.valueUpdateCount, equals: 0)
    #expect(store.isStale)
    store.currentValue = 3
    store.resetState()
    expect(store.currentValue, equals: 1)
    let trusting = client.store(
      for: self.query(["trusting"]).stale(after: .seconds(60), whenNoValue: false),
      initialValue: 1
    )
    #expect(!trusting.isStale)
  }

  @Test
  func `ensureValue runs a query with a default value instead of returning that`() async throws {
    let client = OperationClient()
    self.script.enqueue(.value(5))
    let query = self.query().stale(after: .seconds(60)).defaultValue(0)
    expect(client.store(for: query).currentValue, equals: 0)
    try await expect(client.ensureValue(for: query), equals: 5)
    try await expect(client.ensureValue(for: query), equals: 5)
  }

  @Test
  func `An invalidation of a fresh value runs it for its subscribers`() async throws {
    let client = OperationClient()
    let store = client.store(for: self.query().stale(after: .seconds(60)))
    store.currentValue = 1
    let subscription = store.subscribe { _ in }
    defer { subscription.cancel() }
    #expect(!store.isLoading)
    self.script.enqueue(.value(2))
    await client.invalidate(matching: ["guide"]).settled()
    expect(store.currentValue, equals: 2)
  }

  @Test
  func `A value that is set clears the error and is fresh`() async throws {
    let store = OperationStore.detached(query: self.query().stale(after: .seconds(60)))
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    #expect(store.isStale)
    store.currentValue = 1
    #expect(store.error == nil)
    #expect(!store.isStale)
  }

  @Test
  func `A store of a client runs for a subscriber, and a detached or a disabled one does not`() async throws {
    let client = OperationClient()
    let enabled = client.store(for: self.query(["enabled"]))
    let disabled = client.store(for: self.query(["disabled"]).disableAutomaticRunning())
    let detached = OperationStore.detached(query: self.query(["detached"]))
    let asked = OperationStore.detached(query: self.query(["asked"]).disableAutomaticRunning(false))
    let stores = [enabled, disabled, detached, asked]
    let subscriptions = stores.map { $0.subscribe { _ in } }
    defer { OperationSubscription.combined(subscriptions).cancel() }
    try await self.script.next().succeed(1)
    try await self.script.next().succeed(2)
    expect(stores.map { $0.isLoading || $0.valueUpdateCount > 0 }, equals: [true, false, false, true])

    let fetch = Task { try await disabled.fetch() }
    try await self.script.next().succeed(3)
    try await expect(fetch.value, equals: 3)
  }

  @Test
  func `An invalidation runs a store of a plain client, and not one that is disabled`() async throws {
    let client = OperationClient(storeCreator: OperationClient.PlainStoreCreator())
    let plain = client.store(for: self.query(["all", "plain"]))
    let disabled = client.store(for: self.query(["all", "disabled"]).disableAutomaticRunning())
    let subscriptions = [plain, disabled].map { $0.subscribe { _ in } }
    defer { OperationSubscription.combined(subscriptions).cancel() }
    expect(client.isFetching(), equals: 0)
    self.script.enqueue(.value(1))
    await client.invalidate(matching: ["all"]).settled()
    expect(plain.currentValue, equals: 1)
    #expect(disabled.status.isIdle)
    #expect(disabled.isStale)
  }

  @Test
  func `Elements of a path are equal if their types and values are`() {
    #expect(OperationPath(elements: [1]) != OperationPath(elements: [UInt(1)]))
    #expect(OperationPath(elements: [1]) != OperationPath(elements: ["1"]))
  }

  @Test
  func `A task that waits for a failed one runs`() async throws {
    let first = OperationTask<Int, any Error>(context: OperationContext()) { _, _ in throw Refused() }
    let second = OperationTask<Int, any Error>(context: OperationContext()) { _, _ in 2 }
    second.schedule(after: first)
    try await expect(second.runIfNeeded(), equals: 2)
    #expect(first.isFinished)
  }
}
