internal import OperationCore
internal import Synchronization

/// Counts the changes of what the derived queries of a client read.
///
/// A query that was found consistent is consistent until the next change, so the search does not go below it again before that.
final class DerivationRevision: Sendable {
  private let number = Atomic<UInt64>(1)

  init() {}

  /// The number of the last change. It never is zero.
  var current: UInt64 { self.number.load(ordering: .acquiring) }

  /// Notes a change, before the new value can be read.
  func advance() { self.number.add(1, ordering: .acquiringAndReleasing) }
}

/// Advances the revision when a store that derived queries read shows something else, is invalidated, or leaves its client.
final class SourceObserver: StoreValueObserver {
  private let revision: DerivationRevision
  /// The node of the store if its operation is derived.
  private let node: DerivationNode?

  init(_ revision: DerivationRevision, of node: DerivationNode?) {
    self.revision = revision
    self.node = node
  }

  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    guard shown.changes.contains(.value), let node = self.node else {
      self.revision.advance()
      return nil
    }
    let former = shown.resultContext?.commitStep?.perform()
    if !node.takeExpectedChange() { self.revision.advance() }
    return former
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .unobserved = event.what { self.revision.advance() }
  }
}
