internal import OperationCore

/// What has tags: a store, or a page of one.
class TagMember: Hashable, @unchecked Sendable {
  // Unchecked: the lock of the index guards the variables, also in subclasses.

  /// The tags under which the index has the member, each once.
  final var tags: [OperationTag] = []
  /// The last invalidation when the index got the tags. Later ones have found the member by them.
  final var indexed = InvalidationEpoch.zero

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
class TaggedStore: TagMember, @unchecked Sendable {
  // Unchecked like its base class.
  final let index: TagIndex
  final let reference: StoreReference
  /// Ascends in the order in which the stores were made.
  final let number: UInt64
  /// The tags that do not depend on the value, each once.
  final let constants: [OperationTag]
  /// Whether the store was removed from its client, or is gone.
  final var isAbsent = false
  /// Whether a client has taken the store again or has dropped it, if the tags have yet to follow; nil otherwise.
  final var membership: Bool?

  init(_ reference: StoreReference, in index: TagIndex, constants: [OperationTag]) {
    self.index = index
    self.reference = reference
    self.number = index.nextNumber()
    self.constants = constants.withoutDuplicates
  }

  override var store: TaggedStore { self }

  /// Notes another state. Called with the lock of the store held.
  ///
  /// - Returns: What is no longer needed, to be released after the lock.
  final func storeShows(_ shown: ShownState) -> (any Sendable)? {
    self.index.withLock { state -> (any Sendable)? in
      if state.isClosed { return nil }
      if shown.changes.contains(.membership) {
        self.membership = shown.isInClient == self.isAbsent ? shown.isInClient : nil
        if self.membership == nil { return nil }
        state.unsettled.insert(self)
      } else if !shown.changes.contains(.value) {
        return nil
      }
      if self.isAbsent, self.membership != true { return nil }
      return self.note(shown, &state)
    }
  }

  /// Notes another value, whose tags are to be computed. Called with the lock of the index held.
  func note(_ shown: ShownState, _ state: inout TagIndex.State) -> (any Sendable)? { nil }

  /// The tags of the store and of its pages. Called with the lock of the index held.
  var allTags: [OperationTag] { self.tags }

  /// Adds the tags of the initial state.
  func begin(showing shown: ShownState) {
    self.index.withLock { state, released in state.setTags(self.constants, of: self, &released) }
  }

  /// Lets the tags follow the client and the last value, unless they do.
  final func settle() {
    self.index.withLock { state, released in
      guard let isInClient = self.membership.take() else { return }
      if isInClient {
        self.isAbsent = false
        state.setTags(self.constants, of: self, &released)
      } else {
        self.isAbsent = true
        self.leave(&state, &released)
      }
      if !self.hasUnsettledValue { state.unsettled.remove(self) }
    }
    self.settleValue()
  }

  /// Whether the tags of the last value are to be computed. Called with the lock of the index held.
  var hasUnsettledValue: Bool { false }

  /// Computes the tags of the last value, unless that is done.
  func settleValue() {}

  /// Removes all tags of a store that is gone.
  final func end() {
    self.index.withLock { state, released in
      self.membership = nil
      if !self.isAbsent { self.leave(&state, &released) }
      self.isAbsent = true
      state.unsettled.remove(self)
    }
  }

  /// Removes all tags of the store from the index.
  func leave(_ state: inout TagIndex.State, _ released: inout ReleasedValues) {
    state.setTags([], of: self, &released)
  }
}
