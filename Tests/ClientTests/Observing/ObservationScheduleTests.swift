import CoreFixtures
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

/// Observers and stores that come and go on several threads: each observer hears of each store from its first event to
/// its last, once.
@Suite(.bounded, .warningsAreIssues)
struct ObservationScheduleTests {
  @Test
  func `Each observation has one beginning and one end, and events in between only`() async {
    for seed in 0..<ModelRuns.count(20) {
      let client = OperationClient()
      let observers = (0..<4).map { _ in OrderObserver() }
      let script = IntScript(default: .value(1))
      await onThreads(4) { number in
        var generator = SeededGenerator(seed: UInt64(seed * 4 + number))
        var subscriptions: [OperationSubscription] = []
        for _ in 0..<60 {
          let path: OperationPath = [
            Int.random(in: 0..<2, using: &generator), Int.random(in: 0..<3, using: &generator),
          ]
          switch Int.random(in: 0..<7, using: &generator) {
          case 0:
            let observer = observers[Int.random(in: 0..<4, using: &generator)]
            subscriptions.append(
              client.observe(matching: Bool.random(using: &generator) ? [] : [path[0]], with: observer)
            )
          case 1: if !subscriptions.isEmpty { subscriptions.removeFirst().cancel() }
          case 2: _ = client.clearStore(with: path)
          case 3: client.invalidate(matching: [path[0]])
          case 4:
            let observer = observers[Int.random(in: 0..<4, using: &generator)]
            if let store = client.store(with: path) { subscriptions.append(store.reference.observe(with: observer)) }
          default: client.store(for: script.query(path: path)).currentValue = number
          }
        }
        for subscription in subscriptions { subscription.cancel() }
      }
      client.clearStores()
      for observer in observers { expect(observer.faults, equals: [], "seed \(seed)") }
      for observer in observers { expect(observer.openCount, equals: 0, "seed \(seed)") }
    }
  }
}

/// Checks the order of the events of each store.
private final class OrderObserver: StoreObserver {
  private struct Content {
    var isOpen: [ObjectIdentifier: Bool] = [:]
    /// Kept so that no identifier comes twice.
    var references: [StoreReference] = []
    var faults: [String] = []
  }

  private let content = Mutex(Content())

  var faults: [String] { self.content.withLock { $0.faults } }
  var openCount: Int { self.content.withLock { $0.isOpen.values.count { $0 } } }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    self.content.withLock { content in
      let id = ObjectIdentifier(store)
      let isOpen = content.isOpen[id] ?? false
      switch event.what {
      case .observed:
        if isOpen { content.faults.append("observed twice") }
        content.isOpen[id] = true
        content.references.append(store)
      case .unobserved:
        if !isOpen { content.faults.append("unobserved without observed") }
        content.isOpen[id] = false
      default: if !isOpen { content.faults.append("\(event.what) outside") }
      }
    }
  }
}
