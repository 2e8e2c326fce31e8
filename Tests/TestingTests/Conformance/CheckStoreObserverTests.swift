import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckStoreObserverTests {
  @Test func `A sound observer keeps the rules`() async throws {
    try await checkStoreObserver { BrokenObserver(.sound) }
    try await checkStoreValueObserver(values: "a", "b") { BrokenObserver(.sound) }
  }

  private static let faults: [(StoreObserverRule, BrokenObserver.Fault, [String])] = [
    (
      .kinds, .changesKinds,
      ["`observedEvents` was 1023, then 0. It is asked once: return a constant."]
    ),
    (
      .release, .keepsStores,
      [
        """
        Waited 0.2 seconds for a store that the client has removed to be released; 1 are alive. Keep the \
        `StoreReference`, which is weak, and not the store.
        """
      ]
    ),
    (
      .drops, .releasesUnderLock,
      [
        """
        an error was released with the lock of the store held. Return what you no longer need from `storeShows(_:of:)`.
        """
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, issues) = Self.faults[index]
    let expected = issues.map { "The store observer breaks the rule '\(rule)': \($0)" }
    let found = try await recordedIssues(expecting: .all(expected)) { limit in
      try await checkStoreObserver([rule], within: limit) { BrokenObserver(fault) }
    }
    expect(found, equals: expected)
  }

  @Test func `Exceptions are not checked`() async throws {
    try await checkStoreObserver(except: [.release]) { BrokenObserver(.keepsStores) }
  }
}

/// Keeps the last state of each store, with a fault.
private final class BrokenObserver: StoreValueObserver {
  enum Fault: Sendable {
    case sound, changesKinds, keepsStores, releasesUnderLock
  }

  private struct Content {
    var shown: [StoreReference: [ShownState]] = [:]
    var stores: [OpaqueOperationStore] = []
    var asked = 0
  }

  private let fault: Fault
  private let content = Mutex(Content())

  init(_ fault: Fault) {
    self.fault = fault
  }

  var observedEvents: StoreEvent.Kinds {
    guard self.fault == .changesKinds else { return .all }
    // Asked once when the observer is added, and then twice by the check.
    return self.content.withLock { content in
      content.asked += 1
      return content.asked == 3 ? [] : .all
    }
  }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    let dropped = self.content.withLock { content -> [ShownState] in
      var states = content.shown[store] ?? []
      states.append(shown)
      // The store itself keeps the state before until the lock is released.
      let dropped = states.dropLast(2)
      content.shown[store] = states.suffix(2)
      return Array(dropped)
    }
    return self.fault == .releasesUnderLock ? nil : dropped
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if self.fault == .keepsStores, let store = store.store { self.content.withLock { $0.stores.append(store) } }
    guard case .unobserved = event.what else { return }
    let former = self.content.withLock { $0.shown.removeValue(forKey: store) }
    _ = former
  }
}
