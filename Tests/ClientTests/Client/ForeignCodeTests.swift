import CoreFixtures
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// A `deinit` of user types may use the object that releases the value, because no lock is held.
@Suite(.bounded, .warningsAreIssues)
struct ForeignCodeTests {
  private func client(maximumIdleStores: Int = 10_000) -> OperationClient {
    OperationClient(storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: maximumIdleStores))
  }

  @Test
  func `A value in a default context uses the client when the context is replaced`() {
    let client = self.client()
    let uses = Counter()
    client.defaultContext[CallbackKey.self] = ReleaseCallback { [weak client] in
      _ = client?.defaultContext
      uses.increment()
    }
    client.defaultContext = OperationContext()
    expect(uses.value, equals: 1)
  }

  @Test(arguments: 0..<6)
  func `A path element uses the client when it is released`(_ way: Int) {
    let client = self.client(maximumIdleStores: way == 5 ? 0 : 10_000)
    let uses = Counter()
    let isUsing = AtomicFlag(false)
    let use: @Sendable () -> Void = { [weak client] in
      guard !isUsing.set(true) else { return }
      uses.increment()
      _ = client?.store(for: NumberQuery(uses.value % 3))
      _ = client?.stores().count
      client?.clearStores(matching: ["numbers", 2])
      _ = isUsing.set(false)
    }
    let path: () -> OperationPath = { ["callbacks", CallbackElement(1, onRelease: use), "x"] }
    let query: (Int) -> CallbackQuery = { CallbackQuery(path: path().appending($0)) }
    for number in 0..<3 { _ = client.store(for: query(number)) }
    if way != 5 {
      let store = client.store(for: query(1))
      #expect(client.store(with: query(1).path)?.base as? IntStore === store)
      expect(client.stores(matching: path()).count, equals: 3)
      #expect(client.stores(matching: ["callbacks", CallbackElement(2, onRelease: use)]).isEmpty)
      expect(client.isFetching(matching: path()), equals: 0)
    }
    switch way {
    case 0: client.clearStores()
    case 1: client.clearStores(matching: path())
    case 2: for number in 0..<3 { client.clearStore(with: query(number).path) }
    case 3: client.withStores(matching: path(), of: IntState.self) { stores, _ in stores.removeAll() }
    case 4:
      client.withStores(of: IntState.self) { stores, createStore in
        for number in 0..<5 { stores.update(createStore(for: query(number))) }
      }
      expect(client.stores(matching: path()).count, equals: 5)
      client.clearStores(matching: ["callbacks"])
    default: break  // The cache keeps none.
    }
    #expect(client.stores(matching: ["callbacks"]).isEmpty)
    #expect(uses.value > 0)
  }

  @Test
  func `The elements of paths are released with the last store below them, and use the client then`() {
    let client = self.client()
    let uses = Counter()
    let element: () -> CallbackElement = {
      CallbackElement(1, onRelease: { [weak client] in uses.increment(by: (client?.stores().count ?? 0) + 1) })
    }
    for number in 0..<2 { _ = client.store(for: CallbackQuery(path: [element(), number])) }
    client.clearStore(with: [element(), 0])
    let before = uses.value
    client.clearStores(matching: [element(), 1])
    #expect(uses.value >= before + 2)
  }

  @Test
  func `The deadlines of a cache use it when they are released`() {
    let cache = OperationClient.DefaultStoreCache()
    let client = OperationClient(storeCache: cache)
    let uses = Counter()
    let context: (Int) -> @Sendable (inout OperationContext) -> Void = { number in
      { context in
        context.operationCacheTime = .seconds(number)
        context.operationDeadlines = CallbackDeadlines(
          callback: ReleaseCallback { [weak cache] in
            cache?.evictIdleStores { _ in false }
            uses.increment()
          }
        )
      }
    }
    for number in 1...20 {
      _ = client.store(for: NumberQuery(number).context(context(number)))
      client.clearStores()
    }
    #expect(uses.value > 0)
  }

  @Test
  func `A watcher uses the client when it is released`() {
    let client = self.client()
    let uses = Counter()
    let watch: () -> OperationSubscription = {
      let callback = ReleaseCallback { [weak client] in uses.increment(by: (client?.stores().count ?? 0) + 1) }
      return client.subscribe { _ in callback.touch() }
    }
    watch().cancel()
    expect(uses.value, equals: 1)
  }

  @Test
  func `A value in a subscription uses it when it is cancelled`() {
    let subscription = Box<OperationSubscription?>(nil)
    let uses = Counter()
    subscription.value = {
      let callback = ReleaseCallback {
        subscription.value?.cancel()
        uses.increment()
      }
      return OperationSubscription { callback.touch() }
    }()
    subscription.value?.cancel()
    expect(uses.value, equals: 1)
    subscription.value = nil
  }

  @Test
  func `A value in a deadline uses the queue when the deadline is cancelled`() {
    let queue = DeadlineQueue(SystemDeadlineAlarm())
    let uses = Counter()
    let deadline = {
      let callback = ReleaseCallback {
        queue.cancel(queue.schedule(after: .seconds(3_600)) {})
        uses.increment()
      }
      return queue.schedule(after: .seconds(3_600)) { callback.touch() }
    }()
    queue.cancel(deadline)
    expect(uses.value, equals: 1)
  }

  @Test
  func `A value in an observer of a sequence uses the specification when it is released`() {
    let specification = AsyncSequenceRunSpecification(sequence: AsyncStream<Bool> { _ in }, initialValue: true)
    let uses = Counter()
    let subscribe: () -> OperationSubscription = {
      let callback = ReleaseCallback {
        _ = specification.isSatisfied(in: OperationContext())
        uses.increment()
      }
      return specification.subscribe(in: OperationContext()) { callback.touch() }
    }
    subscribe().cancel()
    expect(uses.value, equals: 1)
  }

  @Test
  func `A value in a reporter uses the reporter when that is replaced`() {
    let reporter = OperationWarning.reporter
    defer { OperationWarning.reporter = reporter }
    let uses = Counter()
    let report: () -> Void = {
      let callback = ReleaseCallback {
        _ = OperationWarning.reporter
        uses.increment()
      }
      OperationWarning.reporter = { warning in
        callback.touch()
        reporter(warning)
      }
    }
    report()
    OperationWarning.reporter = reporter
    expect(uses.value, equals: 1)
  }
}

extension Counter {
  fileprivate func increment(by count: Int) {
    for _ in 0..<count { self.increment() }
  }
}

private enum CallbackKey: OperationContext.Key {
  static let defaultValue: ReleaseCallback? = nil
}

/// A path element that does something when it is released.
private final class CallbackElement: Hashable, Sendable {
  let number: Int
  let onRelease: @Sendable () -> Void

  init(_ number: Int, onRelease: @escaping @Sendable () -> Void) {
    self.number = number
    self.onRelease = onRelease
  }

  deinit { self.onRelease() }

  static func == (lhs: CallbackElement, rhs: CallbackElement) -> Bool { lhs.number == rhs.number }

  func hash(into hasher: inout Hasher) {
    // The same for all, so that different elements are compared.
    hasher.combine(0)
  }
}

private struct CallbackQuery: QueryRequest {
  let path: OperationPath

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { 0 }
}

private struct CallbackDeadlines: DeadlineSource {
  let callback: ReleaseCallback

  var elapsed: Duration { .zero }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    OperationSubscription { [callback] in callback.touch() }
  }
}
