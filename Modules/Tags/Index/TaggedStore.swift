internal import OperationCore

/// What has tags: a store, or a page of one.
class TagMember: Hashable, @unchecked Sendable {
  // Unchecked: the lock of the index guards the variables, also in subclasses.

  /// The tags under which the index has the member, each once.
  final var tags: [OperationTag] = []

  /// The store that has the tags.
  var store: TaggedStore { preconditionFailure("Overridden by the subclasses.") }

  static func == (lhs: TagMember, rhs: TagMember) -> Bool { lhs === rhs }

  final func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// A page with tags.
final class TaggedPart: TagMember, @unchecked Sendable {
  // Unchecked like its base class. The reference is immutable, and a store outlives its parts in the index: it removes
  // them when it ends.
  private unowned let owner: TaggedStore

  init(of owner: TaggedStore) {
    self.owner = owner
  }

  override var store: TaggedStore { self.owner }
}

/// A store with tags that do not depend on its value, and the base class of those whose tags do.
class TaggedStore: TagMember, ShownStateObserver, @unchecked Sendable {
  // Unchecked like its base class.
  final let index: TagIndex
  final let reference: StoreReference
  /// Ascends in the order in which the stores were made.
  final let number: UInt64
  /// The tags that do not depend on the value, each once.
  final let constants: [OperationTag]
  /// Whether the store was removed from its client, or is deinitialized.
  final var isAbsent = false
  /// The number of calls of ``storeHasMoved()``.
  final var moves: UInt64 = 0

  init(_ reference: StoreReference, in index: TagIndex, constants: [OperationTag]) {
    self.index = index
    self.reference = reference
    self.number = index.nextNumber()
    self.constants = constants.withoutDuplicates
  }

  override var store: TaggedStore { self }

  func storeShows(_ state: ShownState) -> (any Sendable)? { nil }

  /// The tags of the store and of its pages. Called with the lock of the index held.
  var allTags: [OperationTag] { self.tags }

  /// Computes the tags of the last value, unless that is done.
  func settle() {}

  func storeHasMoved() {
    let move = self.index.withLock { _ in
      self.moves += 1
      return self.moves
    }
    let isInClient = self.reference.isInClient
    var hasReturned = false
    self.index.withLock { state, released in
      // A later call looks at the client later.
      guard self.moves == move else { return }
      if !isInClient, !self.isAbsent { self.leave(&state, &released) }
      if isInClient { hasReturned = self.isAbsent }
      self.isAbsent = !isInClient
    }
    if hasReturned { self.storeHasReturned() }
  }

  /// Removes all tags of the store from the index.
  func leave(_ state: inout TagIndex.State, _ released: inout ReleasedValues) {
    state.setTags([], of: self, &released)
  }

  /// Adds the tags of a store that is new in the index, or has left it and is in its client again.
  func storeHasReturned() {
    self.index.withLock { state, released in
      if !self.isAbsent { state.setTags(self.constants, of: self, &released) }
    }
  }
}
