import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// `StoreValueObserver`: called before a new value can be read.
@Suite(.bounded, .warningsAreIssues)
struct StoreValueObserverTests {
  private let client = OperationClient()
  private let script = IntScript()

  private var query: IntQuery { self.script.query(path: ["a"]) }

  @Test
  func `It is called for the first state, then for each change, and settles before the handlers`() {
    let log = Log<String>()
    let store = self.client.store(for: self.query, initialValue: 1)
    let observation = store.reference.observe(with: ValueLog(log))
    let handler = store.subscribe(
      with: OperationEventHandler(onStateChanged: { state, _ in log.append("handler \(state.currentValue ?? 0)") })
    )
    store.currentValue = 2
    expect(
      log.all,
      equals: [
        "shows 1 observation in client", "settled", "handler 1", "shows 2 value in client", "settled", "handler 2",
      ]
    )
    _ = (observation, handler)
  }

  @Test
  func `Invalidations and the client's membership are changes, with ascending versions`() {
    let log = Log<String>()
    let observer = ValueLog(log)
    let query = self.query.context { $0.operationObservers.append(observer) }
    let store = self.client.store(for: query, initialValue: 1)
    self.client.invalidate(matching: ["a"])
    self.client.clearStores()
    expect(
      log.all,
      equals: [
        "shows 1 observation", "settled", "shows 1 membership in client", "settled",
        "shows 1 invalidation in client invalidated", "settled", "shows 1 membership invalidated", "settled",
      ]
    )
    let versions = observer.versions.all
    #expect(versions == versions.sorted() && Set(versions).count == versions.count)
    _ = store
  }

  @Test
  func `The result of a run comes with its context, and whether it has replaced the whole value`() async throws {
    let log = Log<String>()
    let store = self.client.store(for: self.query)
    let observation = store.reference.observe(with: ResultLog(log))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield(1)
    run.succeed(2)
    _ = try await fetch.finished()
    store.currentValue = 3
    expect(log.all, equals: ["yieldedResult 1 whole", "returnedFinalResult 2 whole", "no result 3"])
    observation.cancel()
  }

  @Test
  func `Optimistic updates show through, and the confirmed state does not have them`() {
    let log = Log<String>()
    let store = self.client.store(for: self.query, initialValue: 1)
    let observation = store.reference.observe(with: ConfirmedLog(log))
    let layer = StateLayerIdentifier()
    #expect(OpaqueOperationStore(erasing: store).addLayer(layer, over: IntState.self) { $0 = 5 })
    OpaqueOperationStore(erasing: store).removeLayer(layer)
    expect(log.all, equals: ["1 of 1", "5 of 1", "1 of 1"])
    observation.cancel()
  }

  @Test
  func `What it returns is released after the lock`() {
    let store = self.client.store(for: self.query)
    let observation = store.reference.observe(with: DroppingObserver())
    // The release calls a store, which would trap with the lock of its machine held.
    store.currentValue = 1
    store.currentValue = 2
    expect(store.currentValue, equals: 2)
    observation.cancel()
  }

  @Test
  func `A store without observers has no flag set`() {
    let store = self.client.store(for: self.query)
    expect(store.runtime.watch.load(ordering: .relaxed), equals: 0)
    let observation = store.reference.observe(with: ValueLog(Log<String>()))
    #expect(store.runtime.showsValues && !store.runtime.isWatched(.all))
    observation.cancel()
    expect(store.runtime.watch.load(ordering: .relaxed), equals: 0)
  }
}

private final class ValueLog: StoreValueObserver {
  private let log: Log<String>
  let versions = Log<UInt64>()

  init(_ log: Log<String>) {
    self.log = log
  }

  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    let changes: [(ShownState.Changes, String)] = [
      (.observation, "observation"), (.value, "value"), (.invalidation, "invalidation"), (.membership, "membership"),
    ]
    var text = "shows \((shown.state(as: IntState.self)?.currentValue ?? nil) ?? 0)"
    for (change, name) in changes where shown.changes.contains(change) { text += " \(name)" }
    if shown.isInClient { text += " in client" }
    if shown.isInvalidated { text += " invalidated" }
    self.log.append(text)
    self.versions.append(shown.version)
    return nil
  }

  func storeHasSettled(_ store: StoreReference) { self.log.append("settled") }

  func receive(_ event: StoreEvent, of store: StoreReference) {}
}

private final class ResultLog: StoreValueObserver {
  private let log: Log<String>

  init(_ log: Log<String>) {
    self.log = log
  }

  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    guard shown.changes.contains(.value), let value = shown.state(as: IntState.self)?.currentValue ?? nil else {
      return nil
    }
    let reason = shown.resultContext?.operationResultUpdateReason.map { "\($0)" } ?? "no result"
    self.log.append("\(reason) \(value)" + (shown.isWholeResult ? " whole" : ""))
    return nil
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {}
}

private final class ConfirmedLog: StoreValueObserver {
  private let log: Log<String>

  init(_ log: Log<String>) {
    self.log = log
  }

  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    let value = (shown.state(as: IntState.self)?.currentValue ?? nil) ?? 0
    let confirmed = (shown.confirmedState(as: IntState.self)?.currentValue ?? nil) ?? 0
    self.log.append("\(value) of \(confirmed)")
    return nil
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {}
}

private final class DroppingObserver: StoreValueObserver {
  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    ReleaseCallback { _ = store.shownState }
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {}
}
