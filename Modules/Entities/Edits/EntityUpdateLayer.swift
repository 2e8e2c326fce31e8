internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

/// The update of one entity by one call, in all stores of a client that have the entity.
final class EntityUpdateLayer<Entity: Identifiable & Equatable & Sendable>: EffectLayer where Entity.ID: Sendable {
  private enum Phase: Sendable {
    case pending
    /// The record has what the update has brought.
    case confirmed
    case failed
  }

  private struct State: Sendable {
    var phase = Phase.pending
    /// What the call has returned.
    var result: Entity?
  }

  let id: Entity.ID
  /// The place among the updates of other calls, and the identity.
  let layerID: StateLayerIdentifier
  private let table: EntityTable<Entity>
  private let author: String
  private let now: @Sendable () -> Date
  /// Makes the update; nil for one that shows nothing before the call has ended.
  private let edit: (@Sendable (inout Entity) -> Void)?
  /// Finds the entity in the value of the call; nil if the update itself is what is confirmed.
  private let entity: (@Sendable (any Sendable) -> Entity?)?
  private let beginning = EntityClock.next()
  private let state = Locked(State())

  init(
    of id: Entity.ID,
    in table: EntityTable<Entity>,
    at place: StateLayerPlace,
    by author: String,
    now: @escaping @Sendable () -> Date,
    edit: (@Sendable (inout Entity) -> Void)?,
    entity: (@Sendable (any Sendable) -> Entity?)?
  ) {
    self.id = id
    self.layerID = StateLayerIdentifier(at: place)
    self.table = table
    self.author = EntityAuthor.update(by: author)
    self.now = now
    self.edit = edit
    self.entity = entity
    guard edit != nil else { return }
    for holder in table.begin(self) { self.add(to: holder) }
  }

  /// The entity with the update.
  func shown(over entity: Entity) -> Entity {
    guard let edit = self.edit, case .pending = self.state.withLock({ $0.phase }) else { return entity }
    var entity = entity
    edit(&entity)
    return entity
  }

  // MARK: - Stores

  /// Shows the update in a store, also in values that it has later.
  func add(to holder: EntityHolder<Entity>) {
    guard
      let store = holder.reference.store,
      holder.addLayer(store, self.layerID, self.author, { self.replacement(for: $0) })
    else { return }
    // If the update has ended meanwhile, the end may not have found it in this store.
    if case .pending = self.state.withLock({ $0.phase }) { return }
    store.removeLayer(self.layerID)
  }

  private func replacement(for entity: Entity) -> Entity? {
    if entity.id != self.id { return nil }
    switch self.state.withLock({ $0.phase }) {
    case .pending: return self.shown(over: entity)
    // The store has not taken the update over yet.
    case .confirmed: return self.table.replacement(for: entity)
    case .failed: return nil
    }
  }

  // MARK: - The end

  func callReturned(_ value: any Sendable) {
    guard let entity = self.entity?(value) else { return }
    self.state.withLock { $0.result = entity }
  }

  func succeed(invalidating stores: InvalidatedStores) {
    let number = EntityClock.next()
    if let entity = self.confirmedEntity { self.table.confirm(entity, number, self.now(), since: self.beginning) }
    // From now on the layers are the record, whatever it becomes. Then each store takes it over in one step.
    self.state.withLock { $0.phase = .confirmed }
    if self.edit != nil {
      for (holder, hasEntity) in self.table.end(self) {
        guard let store = holder.reference.store else { continue }
        if hasEntity { store.commitLayer(self.layerID) } else { store.removeLayer(self.layerID) }
      }
    }
    var ids: Set<Entity.ID> = [self.id]
    if let result = self.state.withLock({ $0.result }) { ids.insert(result.id) }
    self.table.show(ids)
  }

  private var confirmedEntity: Entity? {
    if self.entity != nil { return self.state.withLock { $0.result } }
    guard let edit = self.edit, var entity = self.table.record(self.id) else { return nil }
    edit(&entity)
    return entity
  }

  func fail() {
    self.state.withLock { $0.phase = .failed }
    guard self.edit != nil else { return }
    for (holder, _) in self.table.end(self) { holder.reference.store?.removeLayer(self.layerID) }
  }

  func commitAtRest() {}
}

extension Array {
  /// An entity with these updates.
  func shown<Entity>(over entity: Entity) -> Entity where Element == EntityUpdateLayer<Entity> {
    self.reduce(entity) { $1.shown(over: $0) }
  }
}

extension EntityTable {
  /// Notes an update that begins. Returns the stores that are to show it.
  ///
  /// What is known from values of earlier runs alone is the entity from now on, so that the update has one base everywhere.
  fileprivate func begin(_ update: EntityUpdateLayer<Entity>) -> [Holder] {
    let (holders, isPromoted) = self.state.withLock { state in
      let index = state.updates.firstIndex { $0.layerID > update.layerID } ?? state.updates.endIndex
      state.updates.insert(update, at: index)
      let isPromoted = state.records[update.id]?.isConfirmed == false
      if isPromoted { state.records[update.id]?.number = EntityClock.first }
      return (state.members.values.map(\.holder), isPromoted)
    }
    if isPromoted { self.show([update.id]) }
    return holders
  }

  /// Removes an update that has ended. Returns the stores that show it, and whether they have the entity.
  fileprivate func end(_ update: EntityUpdateLayer<Entity>) -> [(holder: Holder, hasEntity: Bool)] {
    self.state.withLock { state, released in
      released.append(state.updates)
      state.updates.removeAll { $0 === update }
      return state.members.values.map { ($0.holder, $0.entities[update.id] != nil) }
    }
  }

  /// Writes what an edit has brought, unless the client has forgotten its user since.
  func confirm(_ entity: Entity, _ number: Int, _ date: Date, since beginning: Int) {
    self.state.withLock { state, released in
      guard beginning > state.floor, state.records[entity.id].map({ $0.number <= number }) ?? true else { return }
      released.append(state.records[entity.id])
      state.put(entity, number, date, &released)
    }
  }
}
