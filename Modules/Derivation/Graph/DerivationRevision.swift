internal import OperationCore
internal import Synchronization

/// Counts the changes of what the derived queries of a client read.
///
/// A query that was found consistent is consistent until the next change, so nobody searches below it again before that.
final class DerivationRevision: Sendable {
  private let number = Atomic<UInt64>(1)

  init() {}

  /// The number of the last change. It never is zero.
  var current: UInt64 { self.number.load(ordering: .acquiring) }

  /// Notes a change, before anybody can read the new value.
  func advance() { self.number.add(1, ordering: .acquiringAndReleasing) }
}

/// Advances the revision when a store that derived queries read shows something else, is invalidated, or leaves its client.
final class SourceObserver: ShownStateObserver {
  private let revision: DerivationRevision
  /// The node of the store if its operation is derived.
  private let node: DerivationNode?

  init(_ revision: DerivationRevision, of node: DerivationNode?) {
    self.revision = revision
    self.node = node
  }

  func storeShows(_ state: ShownState) -> (any Sendable)? {
    if self.node?.takeExpectedChange() != true { self.revision.advance() }
    return nil
  }

  func settle() {}

  func storeHasMoved() { self.revision.advance() }

  func storeIsInvalidated() { self.revision.advance() }
}

/// Observes the store of a derived query from its beginning.
struct DerivationFollower: ShownStateFollower {
  let node: DerivationNode

  func observer<State: OperationState & Sendable>(
    of store: StoreReference,
    showing shown: ShownState,
    as state: State.Type,
    in context: OperationContext
  ) -> (any ShownStateObserver)? {
    context.operationClient.map { SourceObserver($0.derivations.revision, of: self.node) }
  }
}
