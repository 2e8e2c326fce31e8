internal import OperationCore

/// The tags of an operation, which its `tagged` modifiers have added up.
struct TagFollower: ShownStateFollower {
  var constants: [OperationTag] = []
  /// Each is a ``ValueTags``.
  var rules: [any TagRule] = []

  func observer<State: OperationState & Sendable>(
    of store: StoreReference,
    showing shown: ShownState,
    as state: State.Type,
    in context: OperationContext
  ) -> (any ShownStateObserver)? {
    // A store without a client cannot be found by its tags.
    guard let client = context.operationClient else { return nil }
    let index = client.tagIndex
    guard !self.rules.isEmpty else {
      let tagged = TaggedStore(store, in: index, constants: self.constants)
      tagged.storeHasReturned()
      return tagged
    }
    guard let partitioned = State.self as? any (PartitionedOperationState & Sendable).Type else {
      for rule in self.rules { self.reportMismatch(of: rule, with: State.StateValue.self, at: store) }
      return TagFollower(constants: self.constants).observer(of: store, showing: shown, as: state, in: context)
    }
    return self.tagged(store, showing: shown, as: partitioned, in: index)
  }

  private func tagged<State: PartitionedOperationState & Sendable>(
    _ store: StoreReference,
    showing shown: ShownState,
    as state: State.Type,
    in index: TagIndex
  ) -> TaggedStore {
    var rules: [@Sendable (State.ValuePart) -> [OperationTag]] = []
    for rule in self.rules {
      if let rule = rule as? ValueTags<State.ValuePart> {
        rules.append(rule.tags)
      } else {
        self.reportMismatch(of: rule, with: State.ValuePart.self, at: store)
      }
    }
    let tagged = ValueTaggedStore<State>(store, in: index, constants: self.constants, rules: rules)
    tagged.begin(showing: shown)
    return tagged
  }

  private func reportMismatch(of rule: any TagRule, with part: any Any.Type, at store: StoreReference) {
    OperationWarning(
      code: .stateMismatch,
      message: """
        A `tagged` modifier computes tags of \(rule.partType), and the store at \(store.path) shows \(part). Its tags \
        are ignored. Apply `tagged` outside of the modifier that changes the value.
        """
    ).report()
  }
}

/// Computes the tags of values of one type.
protocol TagRule: Sendable {
  var partType: any Any.Type { get }
}

struct ValueTags<Part: Sendable>: TagRule {
  let tags: @Sendable (Part) -> [OperationTag]

  init(_ tags: @escaping @Sendable (Part) -> [OperationTag]) {
    self.tags = tags
  }

  var partType: any Any.Type { Part.self }
}

extension [OperationTag] {
  /// The tags in their order, each once.
  var withoutDuplicates: [OperationTag] {
    if self.count < 2 { return self }
    if self.count <= 8 {
      var unique: [OperationTag] = []
      unique.reserveCapacity(self.count)
      for tag in self where !unique.contains(tag) { unique.append(tag) }
      return unique
    }
    var known = Set<OperationTag>(minimumCapacity: self.count)
    return self.filter { known.insert($0).inserted }
  }
}
