import OperationTesting
import Synchronization
import Testing

@testable import OperationCore

/// `deinit`, `==` and `hash` of what users hand over may use what they are called by: no lock is held.
@Suite(.timeLimit(.minutes(1)), .warningsAreIssues)
struct ForeignCodeTests {
  private func client(maximumIdleStores: Int = 10_000) -> OperationClient {
    OperationClient(storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: maximumIdleStores))
  }

  @Test
  func `A value in a default context uses the client when the context is replaced`() {
    let client = self.client()
    let uses = Counter()
    client.defaultContext[GuestKey.self] = Guest { [weak client] in
      _ = client?.defaultContext
      uses.increment()
    }
    client.defaultContext = OperationContext()
    #expect(uses.value == 1)
  }

  @Test(arguments: 0..<6)
  func `A path element uses the client when it is hashed, compared and released`(_ way: Int) {
    let client = self.client(maximumIdleStores: way == 5 ? 0 : 10_000)
    let uses = Counter()
    let isUsing = Switch(false)
    let use: @Sendable () -> Void = { [weak client] in
      guard !isUsing.set(true) else { return }
      uses.increment()
      _ = client?.store(for: NumberQuery(uses.value % 3))
      _ = client?.stores().count
      client?.clearStores(matching: ["numbers", 2])
      _ = isUsing.set(false)
    }
    let path: () -> OperationPath = { ["guests", GuestElement(1, use), "x"] }
    let query: (Int) -> GuestQuery = { GuestQuery(path: path().appending($0)) }
    for number in 0..<3 { _ = client.store(for: query(number)) }
    let before = uses.value
    #expect(before > 0)
    if way != 5 {
      let store = client.store(for: query(1))
      #expect(client.store(with: query(1).path)?.base as? IntStore === store)
      #expect(client.stores(matching: path()).count == 3)
      #expect(client.stores(matching: ["guests", GuestElement(2, use)]).isEmpty)
      #expect(client.isFetching(matching: path()) == 0)
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
      #expect(client.stores(matching: path()).count == 5)
      client.clearStores(matching: ["guests"])
    default: break  // The cache keeps none.
    }
    #expect(client.stores(matching: ["guests"]).isEmpty)
    #expect(uses.value > before || way == 5)
  }

  @Test
  func `The elements of paths are released with the last store below them, and use the client then`() {
    let client = self.client()
    let uses = Counter()
    let element: () -> GuestElement = {
      GuestElement(1, onDeath: { [weak client] in uses.increment(by: (client?.stores().count ?? 0) + 1) })
    }
    for number in 0..<2 { _ = client.store(for: GuestQuery(path: [element(), number])) }
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
        context.operationDeadlines = GuestDeadlines(
          guest: Guest {
            cache.evictIdleStores { _ in false }
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
      let guest = Guest { [weak client] in uses.increment(by: (client?.stores().count ?? 0) + 1) }
      return client.subscribe { _ in guest.touch() }
    }
    watch().cancel()
    #expect(uses.value == 1)
  }

  @Test
  func `A value in a subscription uses it when it is cancelled`() {
    let subscription = Box<OperationSubscription?>(nil)
    let uses = Counter()
    subscription.value = {
      let guest = Guest {
        subscription.value?.cancel()
        uses.increment()
      }
      return OperationSubscription { guest.touch() }
    }()
    subscription.value?.cancel()
    #expect(uses.value == 1)
    subscription.value = nil
  }

  @Test
  func `A value in a deadline uses the queue when the deadline is cancelled`() {
    let queue = DeadlineQueue()
    let uses = Counter()
    let deadline = {
      let guest = Guest {
        queue.cancel(queue.schedule(after: .seconds(3_600)) {})
        uses.increment()
      }
      return queue.schedule(after: .seconds(3_600)) { guest.touch() }
    }()
    queue.cancel(deadline)
    #expect(uses.value == 1)
  }

  @Test
  func `A value in an observer of a sequence uses the specification when it is released`() {
    let specification = AsyncSequenceRunSpecification(sequence: AsyncStream<Bool> { _ in }, initialValue: true)
    let uses = Counter()
    let subscribe: () -> OperationSubscription = {
      let guest = Guest {
        _ = specification.isSatisfied(in: OperationContext())
        uses.increment()
      }
      return specification.subscribe(in: OperationContext()) { guest.touch() }
    }
    subscribe().cancel()
    #expect(uses.value == 1)
  }

  @Test
  func `A value in a reporter uses the reporter when that is replaced`() {
    let reporter = OperationWarning.reporter
    defer { OperationWarning.reporter = reporter }
    let uses = Counter()
    let report: () -> Void = {
      let guest = Guest {
        _ = OperationWarning.reporter
        uses.increment()
      }
      OperationWarning.reporter = { warning in
        guest.touch()
        reporter(warning)
      }
    }
    report()
    OperationWarning.reporter = reporter
    #expect(uses.value == 1)
  }
}

extension Counter {
  fileprivate func increment(by count: Int) {
    for _ in 0..<count { self.increment() }
  }
}

/// Does something when it goes.
private final class Guest: Sendable {
  private let onDeath: @Sendable () -> Void

  init(_ onDeath: @escaping @Sendable () -> Void) {
    self.onDeath = onDeath
  }

  deinit { self.onDeath() }

  func touch() {}
}

private enum GuestKey: OperationContext.Key {
  static let defaultValue: Guest? = nil
}

/// A path element that does something whenever it is hashed or compared, and when it goes.
private final class GuestElement: Hashable, Sendable {
  let number: Int
  let onUse: @Sendable () -> Void
  let onDeath: @Sendable () -> Void

  init(_ number: Int, _ onUse: @escaping @Sendable () -> Void) {
    self.number = number
    self.onUse = onUse
    self.onDeath = onUse
  }

  init(_ number: Int, onDeath: @escaping @Sendable () -> Void) {
    self.number = number
    self.onUse = {}
    self.onDeath = onDeath
  }

  deinit { self.onDeath() }

  static func == (lhs: GuestElement, rhs: GuestElement) -> Bool {
    lhs.onUse()
    return lhs.number == rhs.number
  }

  func hash(into hasher: inout Hasher) {
    self.onUse()
    // All alike, so that those that differ are compared.
    hasher.combine(0)
  }
}

private struct GuestQuery: QueryRequest {
  let path: OperationPath

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { 0 }
}

private struct GuestDeadlines: DeadlineSource {
  let guest: Guest

  var elapsed: Duration { .zero }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    OperationSubscription { [guest] in guest.touch() }
  }
}
