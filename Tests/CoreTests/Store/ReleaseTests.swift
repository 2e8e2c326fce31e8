import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Values that leave a store are released with no lock held, and do not accumulate.
@Suite(.bounded, .warningsAreIssues)
struct ReleaseTests {
  private typealias Session = ReleaseCallback
  private typealias State = QueryState<Session, any Error>
  private typealias Store = OperationStore<State>
  private typealias Script = OperationScript<Session, any Error>

  private let releases = Counter()

  private func session(of store: Store) -> Session {
    Session { [weak store, releases] in
      releases.increment()
      // Each takes the lock of the store.
      store?.subscribe(with: OperationEventHandler()).cancel()
      _ = store?.state
      store?.withExclusiveAccess { _ in }
    }
  }

  @Test
  func `A value with a subscription to its store may be replaced by a run that yields`() async throws {
    let script = OperationScript<Subscriber, any Error>()
    let store = OperationStore<QueryState<Subscriber, any Error>>.detached(query: script.query())
    store.currentValue = Subscriber(store)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    run.yield(Subscriber(store))
    run.yield(Subscriber(store))
    run.yield(error: Refused())
    run.yield(Subscriber(store))
    run.succeed(Subscriber(nil))
    _ = try await fetch.finished()
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `Values that yields, setters and a cancellation replace`() async throws {
    let script = Script(endsOnCancellation: false)
    let store = Store.detached(query: script.query())
    store.currentValue = self.session(of: store)
    let first = Task.immediate { _ = try? await store.fetch() }
    let firstRun = try await script.next()
    let second = Task.immediate { _ = try? await store.fetch() }
    let secondRun = try await script.next()
    for _ in 0..<3 {
      firstRun.yield(self.session(of: store))
      secondRun.yield(error: CallbackError(self.session(of: store)))
      store.currentValue = self.session(of: store)
      secondRun.yield(self.session(of: store))
      store.setResult(to: .failure(CallbackError(self.session(of: store))))
    }
    first.cancel()
    second.cancel()
    firstRun.fail(CallbackError(self.session(of: store)))
    secondRun.succeed(self.session(of: store))
    _ = try await (first.finished(), second.finished())
    store.resetState()
    await store.settled()
    #expect(self.releases.value > 0)
  }

  @Test
  func `Values in the contexts of runs and yields`() async throws {
    let script = Script(default: .suspend)
    let store = Store.detached(query: script.query())
    func context() -> OperationContext {
      var context = OperationContext()
      context[CallbackKey.self] = self.session(of: store)
      return context
    }
    let fetch = Task.immediate { [context = context()] in _ = try await store.fetch(using: context) }
    let run = try await script.next()
    for _ in 0..<3 { run.yield(Session {}, using: context()) }
    store.setResult(to: .success(nil), using: context())
    run.succeed(Session {})
    try await fetch.finished()
    store.context = context()
    store.context = OperationContext()
    #expect(self.releases.value >= 4)
  }

  @Test
  func `Values that are replaced during exclusive access do not accumulate until its end`() async throws {
    let tracker = LifetimeTracker()
    let store = Store.detached(query: Script().query())
    let most = Counter()
    store.withExclusiveAccess { store in
      for _ in 0..<300 {
        let token = tracker.token()
        store.currentValue = Session { token.touch() }
        if tracker.aliveCount > most.value { most.increment() }
      }
    }
    #expect(most.value <= 10)
    store.currentValue = nil
    try await tracker.noneAlive()
  }

  @Test
  func `A context that comes from an event dates a new result anew`() throws {
    let date = Box(Date(timeIntervalSinceReferenceDate: 0))
    let store = IntStore.detached(query: IntScript().query().clock(.custom { @Sendable in date.value }))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    store.currentValue = 1
    let context = try #require(recorder.events.last?.context)
    date.value += 60
    store.setResult(to: .success(2), using: context)
    expect(store.valueLastUpdatedAt, equals: date.value)
    date.value += 60
    store.setResult(to: .failure(Refused()), using: context)
    expect(store.errorLastUpdatedAt, equals: date.value)
  }
}

private struct CallbackError: Error {
  let content: ReleaseCallback

  init(_ content: ReleaseCallback) {
    self.content = content
  }
}

private enum CallbackKey: OperationContext.Key {
  static let defaultValue: ReleaseCallback? = nil
}

/// A value that subscribes to the store that has it.
private final class Subscriber: Sendable {
  private let subscription: OperationSubscription?

  init(_ store: OperationStore<QueryState<Subscriber, any Error>>?) {
    self.subscription = store?.subscribe(with: OperationEventHandler())
  }
}
