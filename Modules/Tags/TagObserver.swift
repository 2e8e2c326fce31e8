internal import OperationCore

/// Keeps a store in the index under the tags of its operation. One is made for all `tagged` modifiers of an operation.
final class TagObserver: StoreValueObserver {
  /// The tags of an operation, which its modifiers have added up.
  struct Tags: Sendable {
    var constants: [OperationTag] = []
    /// Each is a ``ValueTags``.
    var rules: [any TagRule] = []
  }

  private struct State: Sendable {
    var tags = Tags()
    /// The entry of the index; nil until the store exists, and for a store without a client.
    var tagged: TaggedStore?
    var hasBegun = false
  }

  private let state = Locked(State())

  init() {}

  var tags: Tags { self.state.withLock { $0.tags } }

  /// Changes the tags. Called by the modifiers in their setups, before the store exists.
  func edit(_ edit: (inout Tags) -> Void) { self.state.withLock { edit(&$0.tags) } }

  private var tagged: TaggedStore? { self.state.withLock { $0.tagged } }

  var observedEvents: StoreEvent.Kinds { [] }

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    // The first call comes before the store is used. Its state is read when the entry is made.
    shown.changes.contains(.observation) ? nil : self.tagged?.storeShows(shown)
  }

  func storeHasSettled(_ store: StoreReference) {
    let isFirst = self.state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if isFirst { self.begin(store) } else { self.tagged?.settle() }
  }

  private func begin(_ store: StoreReference) {
    // A store without a client cannot be found by its tags.
    guard let client = store.context.operationClient, let shown = store.shownState else { return }
    let tagged = self.tags.entry(of: store, shown.type, in: client.tagIndex)
    self.state.withLock { $0.tagged = tagged }
    tagged.begin(showing: shown)
  }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .unobserved = event.what { self.tagged?.end() }
  }
}

extension TagObserver: ValueTagging {
  func tags<State: OperationState & Sendable>(of state: State) -> [OperationPath] {
    let known = self.tags
    guard !known.rules.isEmpty, let partitioned = state as? any PartitionedOperationState else {
      return known.constants.map(\.path)
    }
    return (known.constants + known.tags(ofPartsOf: partitioned)).withoutDuplicates.map(\.path)
  }
}

extension TagObserver.Tags {
  fileprivate func tags<State: PartitionedOperationState>(ofPartsOf state: State) -> [OperationTag] {
    var tags: [OperationTag] = []
    state.forEachChangedPart(of: state.currentValue, since: nil) { _, part in
      guard let part else { return }
      for case let rule as ValueTags<State.ValuePart> in self.rules { tags += rule.tags(part) }
    }
    return tags
  }
}

extension TagObserver: OperationExplaining {
  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    self.tagged?.explain(store, in: &inspection)
  }
}

extension TagObserver.Tags {
  /// Makes the entry of a store whose state has a type.
  fileprivate func entry(
    of store: StoreReference,
    _ type: any (OperationState & Sendable).Type,
    in index: TagIndex
  ) -> TaggedStore {
    if self.rules.isEmpty { return TaggedStore(store, in: index, constants: self.constants) }
    guard let partitioned = type as? any (PartitionedOperationState & Sendable).Type else {
      for rule in self.rules { rule.reportMismatch(with: type, at: store) }
      return TaggedStore(store, in: index, constants: self.constants)
    }
    return self.entry(of: store, as: partitioned, in: index)
  }

  private func entry<State: PartitionedOperationState & Sendable>(
    of store: StoreReference,
    as state: State.Type,
    in index: TagIndex
  ) -> TaggedStore {
    var rules: [@Sendable (State.ValuePart) -> [OperationTag]] = []
    for rule in self.rules {
      if let rule = rule as? ValueTags<State.ValuePart> {
        rules.append(rule.tags)
      } else {
        rule.reportMismatch(with: State.ValuePart.self, at: store)
      }
    }
    return ValueTaggedStore<State>(store, in: index, constants: self.constants, rules: rules)
  }
}

/// Computes the tags of values of one type.
protocol TagRule: Sendable {
  var partType: any Any.Type { get }
}

extension TagRule {
  fileprivate func reportMismatch(with part: any Any.Type, at store: StoreReference) {
    OperationWarning(
      code: .stateMismatch,
      message: """
        A `tagged` modifier computes tags of \(self.partType), and the store at \(ShownText.of(store.path)) shows \
        \(part). Its tags are ignored. Apply `tagged` outside of the modifier that changes the value.
        """
    ).report()
  }
}

struct ValueTags<Part: Sendable>: TagRule {
  let tags: @Sendable (Part) -> [OperationTag]

  init(_ tags: @escaping @Sendable (Part) -> [OperationTag]) {
    self.tags = tags
  }

  var partType: any Any.Type { Part.self }
}
