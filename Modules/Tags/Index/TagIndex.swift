internal import OperationCore
internal import Synchronization

/// The stores of a client by their tags.
///
/// It refers to the stores weakly. No closure and no `deinit` of a user runs with its lock held, only the `==` and the
/// `hash(into:)` of identifiers. Its lock may be taken with the lock of a store held, not the other way round.
final class TagIndex: Sendable {
  struct State {
    /// What has a tag. The keys are the tags that the members refer to.
    fileprivate(set) var members: [OperationTag: TagMembers] = [:]
    /// The stores that show values whose tags are not in the index.
    var unsettled: Set<TaggedStore> = []
    /// Whether the client no longer exists.
    fileprivate(set) var isClosed = false
    fileprivate var lastNumber: UInt64 = 0
    fileprivate let invalidations: InvalidationLog

    fileprivate init(invalidations: InvalidationLog) {
      self.invalidations = invalidations
    }
  }

  private let state: Mutex<State>

  /// - Parameter invalidations: What was invalidated in the client.
  init(_ invalidations: InvalidationLog) {
    self.state = Mutex(State(invalidations: invalidations))
  }

  func withLock<R>(_ body: (inout State) -> R) -> R {
    self.state.withLock { Unsent(body(&$0)) }.value
  }

  func nextNumber() -> UInt64 {
    self.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Removes everything. The client no longer exists, so its stores are not looked for.
  func close() {
    self.withLock { state, released in
      released.append(state)
      state = State(invalidations: state.invalidations)
      state.isClosed = true
    }
  }
}

extension TagIndex {
  /// Runs `body` under the lock, and after unlocking releases the values that it appends to its second parameter.
  func withLock(_ body: (inout State, inout ReleasedValues) -> Void) {
    var released = ReleasedValues()
    self.withLock { body(&$0, &released) }
  }
}

/// The members with one tag: nearly always few.
enum TagMembers {
  case one(TagMember)
  case several(TagMemberSet)
}

/// Several members with one tag. A reference, so that a change in place copies nothing.
final class TagMemberSet {
  var members: Set<TagMember>

  init(_ members: Set<TagMember>) {
    self.members = members
  }
}

// MARK: - Finding

extension TagIndex {
  /// The stores whose shown values have one of these tags, in the order in which they were made.
  ///
  /// - Complexity: O(*n* log *n*) in the number of stores found, plus the number of values that were set meanwhile.
  func stores(tagged tags: [OperationTag]) -> [TaggedStore] {
    self.settle()
    var found: Set<TaggedStore> = []
    self.withLock { state in
      for tag in tags {
        switch state.members[tag] {
        case .one(let member): found.insert(member.store)
        case .several(let set): for member in set.members { found.insert(member.store) }
        case nil: break
        }
      }
    }
    return found.sorted { $0.number < $1.number }
  }

  /// Computes the tags of values that have been set and whose tags are not in the index.
  private func settle() {
    for store in self.withLock({ Array($0.unsettled) }) { store.settle() }
  }

  /// The tags of the values that stores show.
  var shownTags: [OperationTag] {
    self.settle()
    return self.withLock { Array($0.members.keys) }
  }

  /// What the index has: the numbers of tags, of members with tags, and of stores whose tags are to be computed.
  var counts: (tags: Int, memberships: Int, unsettled: Int) {
    self.withLock { state in
      let memberships = state.members.values.reduce(0) { sum, members in
        switch members {
        case .one: sum + 1
        case .several(let set): sum + set.members.count
        }
      }
      return (state.members.count, memberships, state.unsettled.count)
    }
  }
}

// MARK: - Changing

extension TagIndex.State {
  /// Replaces the tags of a member.
  ///
  /// - Parameters:
  ///   - tags: The new tags, each once.
  ///   - member: The member.
  ///   - released: Receives the former tags, for the caller to release after the lock.
  ///   - epoch: What the value with the tags has seen; nil for tags that do not depend on a value.
  /// - Returns: Whether a tag was invalidated after `epoch` and before the index had the member under that tag.
  /// - Complexity: O(*n*) in the number of former and new tags. Only those that differ are written.
  @discardableResult
  mutating func setTags(
    _ tags: [OperationTag],
    of member: TagMember,
    _ released: inout ReleasedValues,
    seen epoch: InvalidationEpoch? = nil
  ) -> Bool {
    if self.isClosed { return false }
    if member.tags == tags { return epoch.map { self.haveMissed(tags, since: $0, through: member.indexed) } ?? false }
    let former = member.tags
    // The former tags are the keys of the index: kept until the lock is released, as are the new ones by the caller.
    released.append(former)
    let (formerTags, newTags) = (TagLookup(former), TagLookup(tags))
    member.tags = tags.map { tag in formerTags[tag] ?? self.insert(member, for: tag) }
    for tag in former where newTags[tag] == nil { self.remove(member, for: tag) }
    // After the index has the tags: an invalidation is first in the log, and then looks for stores.
    let (formerlyIndexed, indexed) = (member.indexed, InvalidationEpoch.latest)
    member.indexed = indexed
    guard let epoch else { return false }
    return self.haveMissed(tags.filter { formerTags[$0] == nil }, since: epoch, through: indexed)
      || self.haveMissed(tags.filter { formerTags[$0] != nil }, since: epoch, through: formerlyIndexed)
  }

  private func haveMissed(
    _ tags: @autoclosure () -> [OperationTag],
    since epoch: InvalidationEpoch,
    through indexed: InvalidationEpoch
  ) -> Bool {
    self.invalidations.concerns(tags: tags().map(\.path), since: epoch, through: indexed)
  }

  /// Adds a member to those with a tag. Returns the tag that the index keeps.
  private mutating func insert(_ member: TagMember, for tag: OperationTag) -> OperationTag {
    guard let index = self.members.index(forKey: tag) else {
      self.members[tag] = .one(member)
      return tag
    }
    switch self.members.values[index] {
    case .one(let other): self.members.values[index] = .several(TagMemberSet([other, member]))
    case .several(let set): set.members.insert(member)
    }
    return self.members.keys[index]
  }

  private mutating func remove(_ member: TagMember, for tag: OperationTag) {
    guard let index = self.members.index(forKey: tag) else { return }
    switch self.members.values[index] {
    case .one: self.members.remove(at: index)
    case .several(let set):
      set.members.remove(member)
      if set.members.count == 1, let last = set.members.first { self.members.values[index] = .one(last) }
    }
  }
}

/// Finds tags in a list.
private struct TagLookup {
  private let list: [OperationTag]
  private let set: Set<OperationTag>?

  init(_ list: [OperationTag]) {
    self.list = list
    self.set = list.count > 8 ? Set(list) : nil
  }

  /// The tag of the list that is equal to a tag.
  subscript(tag: OperationTag) -> OperationTag? {
    if let set = self.set { return set.firstIndex(of: tag).map { set[$0] } }
    return self.list.first { $0 == tag }
  }
}
