internal import OperationCore
internal import OperationFoundation

/// The entities of one type that a client knows, the stores that may show them, and the updates that are pending.
///
/// The records decide between parts, and stores are changed only towards them. So when nothing is under way, each store
/// shows of each entity the record with the pending updates. No code of users but `==` and `hash(into:)` of identifiers
/// runs with the lock held.
final class EntityTable<Entity: Identifiable & Equatable & Sendable>: Sendable where Entity.ID: Sendable {
  typealias Holder = EntityHolder<Entity>

  struct Member: Sendable {
    let holder: Holder
    /// The entities of its confirmed value.
    var entities: [Entity.ID: Entity] = [:]
  }

  struct State: Sendable {
    var records: [Entity.ID: EntityRecord<Entity>] = [:]
    var members: [ObjectIdentifier: Member] = [:]
    /// The stores that have an entity.
    var index: [Entity.ID: Set<ObjectIdentifier>] = [:]
    /// In the order in which they are applied.
    var updates: [EntityUpdateLayer<Entity>] = []
    /// The entities that no store has, the oldest first. Entries whose numbers are not the records' are outdated.
    var unheld: [(id: Entity.ID, number: Int)] = []
    var unheldCount = 0
    var lastNumber = 0
    /// The client has forgotten what came from runs and edits with this number or a smaller one.
    var floor = 0
    /// Records with this revision or an earlier one go as soon as no store has them.
    var discarded = 0
  }

  /// How many entities are kept that no store has: for the stores whose runs are under way.
  static var unheldLimit: Int { 1_000 }

  let state = Locked(State())

  /// The newest entity, with the updates that are pending; nil for one that is unknown.
  func shown(_ id: Entity.ID) -> Entity? {
    let (value, updates) = self.state.withLock { state in
      (state.records[id]?.value, state.updates.filter { $0.id == id })
    }
    return value.map { updates.shown(over: $0) }
  }

  /// The newest entity without the updates that are pending.
  func record(_ id: Entity.ID) -> Entity? { self.state.withLock { $0.records[id]?.value } }

  /// The newest entity if it takes the place of one.
  func replacement(for entity: Entity) -> Entity? {
    let record = self.state.withLock { $0.records[entity.id] }
    guard let record, record.isConfirmed else { return nil }
    return entity.isReplaced(by: record.value) ? record.value : nil
  }

  /// The numbers of records, of those that no store has, and of stores.
  var counts: (known: Int, unheld: Int, stores: Int) {
    self.state.withLock { ($0.records.count, $0.unheldCount, $0.members.count) }
  }
}

extension EntityTable: OperationClientClearing {
  var remainingUntilCleared: [ClearingError.Remaining] { [] }

  nonisolated(nonsending) func clear() async -> [ClearingError.Remaining] {
    let floor = EntityClock.next()
    self.state.withLock { state, released in
      released.append(state.records)
      released.append(state.unheld)
      state.records = [:]
      state.unheld = []
      state.unheldCount = 0
      state.floor = floor
    }
    return []
  }
}

extension EntityTable: OperationClientPreloading {
  /// Forgets the entities of before, once no store has them: stores that are made afterwards do not begin with them.
  func discardPreloaded(matching path: OperationPath) {
    // The table does not know the paths of entities that no store has.
    guard path.isEmpty else { return }
    self.state.withLock { state, released in
      state.discarded = state.lastNumber
      for (id, _) in state.unheld where state.records[id]?.unheldNumber != nil {
        released.append(state.records.removeValue(forKey: id))
      }
      released.append(state.unheld)
      state.unheld = []
      state.unheldCount = 0
    }
  }

  func discardPreloaded(at path: OperationPath) {}
}

extension OperationClient {
  /// The entities of a type that the client knows.
  func entities<Entity: Identifiable & Equatable & Sendable>(of type: Entity.Type) -> EntityTable<Entity>
  where Entity.ID: Sendable {
    self.attachment { EntityTable<Entity>() }
  }
}
