internal import OperationCore

/// A store with tags of the value that it shows.
///
/// A change of the value is noted under the lock of the store. The tags are computed after that lock: by the thread that
/// has made the change, and before that by any thread that looks for stores with tags. So a value that can be read
/// is found by its tags.
final class ValueTaggedStore<State: PartitionedOperationState & Sendable>: TaggedStore, @unchecked Sendable {
  // Unchecked like its base class.
  private let rules: [@Sendable (State.ValuePart) -> [OperationTag]]

  // The lock of the index guards these.

  /// The number of changes of the value.
  private var changes: UInt64 = 0
  /// The number of the last change whose tags are in the index.
  private var settledChanges: UInt64 = 0
  /// The state after the last change; nil if its tags are in the index.
  private var latest: ShownState?
  /// What all the values have seen whose tags are not in the index.
  private var epoch: InvalidationEpoch?
  /// The value whose tags are in the index, if it may have several parts.
  private var indexedValue: State.StateValue?
  /// The parts that have tags, if the value may have several parts.
  private var parts: [State.ValuePartID: TaggedPart] = [:]

  init(
    _ reference: StoreReference,
    in index: TagIndex,
    constants: [OperationTag],
    rules: [@Sendable (State.ValuePart) -> [OperationTag]]
  ) {
    self.rules = rules
    super.init(reference, in: index, constants: constants)
  }

  override var allTags: [OperationTag] { self.tags + self.parts.values.flatMap(\.tags) }

  private static var hasOnePart: Bool { State.ValuePartID.self == WholeValueID.self }

  // MARK: - Changes

  override func note(_ shown: ShownState, _ state: inout TagIndex.State) -> (any Sendable)? {
    defer { self.latest = shown }
    self.changes += 1
    self.epoch = min(self.epoch ?? shown.epoch, shown.epoch)
    state.unsettled.insert(self)
    return self.latest
  }

  override func begin(showing shown: ShownState) {
    if !Self.hasOnePart { super.begin(showing: shown) }
    self.index.withLock { state, released in
      if !state.isClosed { released.append(self.note(shown, &state)) }
    }
    self.settleValue()
  }

  override var hasUnsettledValue: Bool { self.latest != nil }

  override func leave(_ state: inout TagIndex.State, _ released: inout ReleasedValues) {
    super.leave(&state, &released)
    for part in self.parts.values { state.setTags([], of: part, &released) }
    released.append(self.parts)
    self.parts = [:]
    released.append(self.indexedValue.take())
    released.append(self.latest.take())
    self.epoch = nil
    // Whoever computes tags at the moment must not add them.
    self.changes += 1
    self.settledChanges = self.changes
    state.unsettled.remove(self)
  }

  // MARK: - Tags

  /// Tags to compute.
  private struct Work {
    let change: UInt64
    let settledChanges: UInt64
    let epoch: InvalidationEpoch
    let state: ShownState
    let indexedValue: State.StateValue?
  }

  /// The new tags of a part.
  private struct Edit: Sendable {
    let id: State.ValuePartID
    let tags: [OperationTag]
  }

  override func settleValue() {
    let target = self.index.withLock { _ in self.changes }
    // Repeated only when another thread has stored tags meanwhile.
    while let work = self.index.withLock({ self.work(upTo: target, in: $0) }) {
      var isLate = false
      // A store has one type of state.
      guard let state = work.state.state(as: State.self) else { return }
      let value = state.currentValue
      var edits: [Edit] = []
      state.forEachChangedPart(of: value, since: work.indexedValue) { id, part in
        edits.append(Edit(id: id, tags: part.map(self.tags) ?? self.tagsWithoutValue))
      }
      self.index.withLock { index, released in
        guard self.settledChanges == work.settledChanges, !self.isAbsent, !index.isClosed else { return }
        released.append(edits)
        for edit in edits where self.setTags(edit.tags, ofPart: edit.id, in: &index, &released, seen: work.epoch) {
          isLate = true
        }
        self.settledChanges = work.change
        if !Self.hasOnePart { released.append(self.indexedValue.replace(with: value)) }
        guard self.changes == work.change else { return }
        released.append(self.latest.take())
        self.epoch = nil
        if self.membership == nil { index.unsettled.remove(self) }
      }
      if isLate { self.reference.store?.invalidateLateValue { "a tag of the value during its run" } }
    }
  }

  private func work(upTo target: UInt64, in index: TagIndex.State) -> Work? {
    guard self.settledChanges < target, let state = self.latest, !index.isClosed else { return nil }
    return Work(
      change: self.changes,
      settledChanges: self.settledChanges,
      epoch: self.epoch ?? state.epoch,
      state: state,
      indexedValue: self.indexedValue
    )
  }

  /// The tags of a part that is not there. A store without a value keeps the tags that do not depend on the value.
  private var tagsWithoutValue: [OperationTag] { Self.hasOnePart ? self.constants : [] }

  private func tags(of part: State.ValuePart) -> [OperationTag] {
    if Self.hasOnePart, self.constants.isEmpty, self.rules.count == 1 { return self.rules[0](part).withoutDuplicates }
    var tags = Self.hasOnePart ? self.constants : []
    for rule in self.rules { tags += rule(part) }
    return tags.withoutDuplicates
  }

  private func setTags(
    _ tags: [OperationTag],
    ofPart id: State.ValuePartID,
    in index: inout TagIndex.State,
    _ released: inout ReleasedValues,
    seen epoch: InvalidationEpoch
  ) -> Bool {
    // The only part is the store itself.
    if Self.hasOnePart { return index.setTags(tags, of: self, &released, seen: epoch) }
    if let part = self.parts[id] {
      let isLate = index.setTags(tags, of: part, &released, seen: epoch)
      if tags.isEmpty, let entry = self.parts.index(forKey: id) { released.append(self.parts.remove(at: entry)) }
      return isLate
    }
    if tags.isEmpty { return false }
    let part = TaggedPart(of: self)
    self.parts[id] = part
    return index.setTags(tags, of: part, &released, seen: epoch)
  }
}

extension Optional {
  /// Stores a value, and returns the former one.
  fileprivate mutating func replace(with new: Wrapped) -> Self {
    defer { self = new }
    return self.take()
  }
}
