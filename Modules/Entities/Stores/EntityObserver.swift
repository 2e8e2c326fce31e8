internal import OperationCore
internal import OperationFoundation

/// Compares the values of a store with the entities that its client knows, after each change.
final class EntityObserver: StoreValueObserver {
  /// Makes the members of a store: one for each type of entity.
  typealias MakeMembers = @Sendable (StoreReference, OperationClient) -> [any EntityMember]

  private struct State: Sendable {
    var hasBegun = false
    var isInClient = false
    var members: [any EntityMember] = []
    /// The last result of a run whose entities are to be compared.
    var result: Result?
    /// The number of the last change that no run has made.
    var writeNumber: Int?
  }

  private enum Result: Sendable {
    /// A run that has begun with this number has yielded it.
    case yielded(Int)
    /// The modifier has compared it.
    case compared(Int)
    /// Something around the modifier has answered.
    case unseen(Int, Date)
    /// It was made of the values of other operations.
    case derived
  }

  private let makeMembers: MakeMembers
  private let state = Locked(State())

  init(_ makeMembers: @escaping MakeMembers) {
    self.makeMembers = makeMembers
  }

  var observedEvents: StoreEvent.Kinds { [.membership, .writes, .runs] }

  // MARK: - Values

  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? {
    guard shown.changes.contains(.value) else { return nil }
    let result = shown.resultContext.map { Self.result(of: $0, isWhole: shown.isWholeResult) }
    self.state.withLock { state in
      if let result { state.result = result } else { state.writeNumber = EntityClock.next() }
    }
    return nil
  }

  private static func result(of context: OperationContext, isWhole: Bool) -> Result {
    let number = context[EntityRunNumberKey.self] ?? 0
    guard context.operationResultUpdateReason == .returnedFinalResult else { return .yielded(number) }
    switch context[EntityPassageKey.self] {
    case .derived: return .derived
    case .none where isWhole: return .unseen(number, context.date)
    case .none, .compared: return .compared(number)
    }
  }

  func storeHasSettled(_ store: StoreReference) {
    let (isFirst, result, members) = self.state.withLock { state in
      defer { state.hasBegun = true }
      return (!state.hasBegun, state.result.take(), state.members)
    }
    if isFirst { return self.begin(store) }
    switch (result, store.store?.valueStamp.kind) {
    case (nil, _): break
    case (.derived, _): self.end(store)
    // A fallback is shown as it is, unless something came during its run.
    case (.yielded(let number), _), (.compared(let number), .fallback), (.unseen(let number, _), .fallback):
      self.settle(members, from: .partial(number))
    case (.unseen(let number, let date), .final): self.settle(members, from: .run(number, date))
    case (.compared, _), (.unseen, _): self.settle(members, from: .shown(nil))
    }
  }

  /// Leaves a store whose value is made of others: their ages are unknown, and it follows them by itself.
  private func end(_ store: StoreReference) {
    let members = self.state.withLock { state in
      defer { state.members = [] }
      return state.members
    }
    if members.isEmpty { return }
    for member in members { member.leave() }
    OperationWarning(
      code: .modifiersIgnored,
      message: """
        The derived query at \(ShownText.of(store.path)) has an `.entities` modifier, which is ignored. A derived query \
        follows its sources: apply `.entities` to them.
        """
    ).report()
  }

  private func begin(_ store: StoreReference) {
    guard let client = store.context.operationClient else { return }
    let members = self.makeMembers(store, client)
    self.state.withLock { $0.members = members }
    for member in members { member.join() }
  }

  // MARK: - Events

  func receive(_ event: StoreEvent, of store: StoreReference) {
    let members = self.state.withLock { $0.members }
    if members.isEmpty { return }
    switch event.what {
    case .stateWritten(let write): self.receive(write, event, of: store, members)
    // A run that was cancelled is rolled back. What one that has failed has yielded stays, as everywhere.
    case .runEnded(let end) where end.outcome == nil && store.store?.valueStamp.kind != .fallback:
      self.settle(members, from: .shown(nil))
    case .addedToClient: for member in members { member.join() }
    // A store that the client has only dropped is still the client's.
    case .removedFromClient(.cleared), .removedFromClient(.replaced), .unobserved:
      for member in members { member.leave() }
    default: break
    }
  }

  private func receive(
    _ write: StoreEvent.StateWrite,
    _ event: StoreEvent,
    of store: StoreReference,
    _ members: [any EntityMember]
  ) {
    let edit = EntitySource.edit(self.takeWriteNumber(), event.context.date)
    switch write {
    case .valueSet: self.settle(members, from: edit)
    // By a controller, which dates it now, or by a hand-over, whose date is older.
    case .edited: self.settle(members, from: store.valueDate == event.context.date ? edit : .shown(store.valueDate))
    case .layerCommitted:
      let isOwn = event.cause?.kind == .operation && EntityAuthor.isAuthor(event.cause?.subject)
      if isOwn { for member in members { member.note() } } else { self.settle(members, from: edit) }
    case .restored, .reset: self.settle(members, from: .shown(store.valueDate))
    default: break
    }
  }

  private func takeWriteNumber() -> Int { self.state.withLock { $0.writeNumber.take() } ?? EntityClock.next() }

  private func settle(_ members: [any EntityMember], from source: EntitySource) {
    for member in members { member.settle(from: source) }
  }
}

extension StoreReference {
  /// The date of the value; of pages the earliest.
  var valueDate: Date? { self.store?.state.oldestPartUpdatedAt }
}
