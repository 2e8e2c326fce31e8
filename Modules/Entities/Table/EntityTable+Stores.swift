internal import OperationCore

extension EntityTable {
  /// Adds a store, which then shows the updates that are pending.
  func add(_ holder: Holder) {
    let updates = self.state.withLock { state in
      if state.members[holder.id] == nil { state.members[holder.id] = Member(holder: holder) }
      return state.updates
    }
    for update in updates { update.add(to: holder) }
  }

  /// Removes a store that its client no longer has, or that is gone.
  func remove(_ holder: Holder) {
    self.state.withLock { state, released in
      guard let member = state.members.removeValue(forKey: holder.id) else { return }
      released.append(member)
      for id in member.entities.keys { state.removeFromIndex(id, holder.id, &released) }
    }
  }

  /// Compares the value of a store with what is known: the one that is older takes the other's place.
  ///
  /// - Parameters:
  ///   - holder: The store.
  ///   - source: Where its value comes from. Of one that was set, the parts that have changed are edits.
  func settle(_ holder: Holder, from source: EntitySource) {
    let entities = holder.entities
    // The store first, then the records: an edit writes the record first, and then looks for the stores.
    guard let former = self.note(entities, of: holder) else { return }
    var newest: [Entity.ID: Entity] = [:]
    if case .edit = source {
      let edits = self.edits(in: entities, since: former)
      newest = self.take(edits, from: source, except: holder.reference)
      let others = entities.filter { newest[$0.id] == nil }
      newest.merge(self.take(others, from: .shown(nil), except: holder.reference)) { edited, _ in edited }
    } else {
      newest = self.take(entities, from: source, except: holder.reference)
    }
    let outdated = entities.filter { entity in newest[entity.id].map { entity.isReplaced(by: $0) } ?? false }
    if !outdated.isEmpty { self.replace(Set(outdated.lazy.map(\.id)), in: holder) }
  }

  /// The entities that a set has changed. What the store showed with updates that are pending is set as it was.
  private func edits(in entities: [Entity], since former: [Entity.ID: Entity]) -> [Entity] {
    let (updates, records) = self.state.withLock { state in
      (state.updates, entities.reduce(into: [:]) { $0[$1.id] = state.records[$1.id]?.value })
    }
    return entities.filter { entity in
      let updates = updates.filter { $0.id == entity.id }
      let known = [former[entity.id], records[entity.id]].compactMap(\.self)
      return !known.contains { $0 == entity || updates.shown(over: $0) == entity }
    }
  }

  /// Notes which entities a store has.
  func note(_ holder: Holder) {
    _ = self.note(holder.entities, of: holder)
  }

  /// Notes which entities a store has. Returns those that it had; nil if it is none of the client's.
  private func note(_ entities: [Entity], of holder: Holder) -> [Entity.ID: Entity]? {
    let entities = entities.reduce(into: [:]) { $0[$1.id] = $1 }
    return self.state.withLock { state, released in
      guard let former = state.members[holder.id]?.entities else { return nil }
      state.members[holder.id]?.entities = entities
      for id in entities.keys where former[id] == nil {
        state.index[id, default: []].insert(holder.id)
        state.updateUnheld(id, &released)
      }
      for id in former.keys where entities[id] == nil { state.removeFromIndex(id, holder.id, &released) }
      return former
    }
  }

  /// Shows entities in the stores that have them, as the records have them.
  ///
  /// - Parameters:
  ///   - ids: The identifiers of the entities.
  ///   - store: A store that is left out.
  func show(_ ids: Set<Entity.ID>, except store: StoreReference? = nil) {
    let holders = self.state.withLock { state in
      let members = ids.reduce(into: Set<ObjectIdentifier>()) { $0.formUnion(state.index[$1] ?? []) }
      return members.compactMap { state.members[$0]?.holder }
    }
    for holder in holders where holder.reference !== store {
      let outdated = holder.entities.filter { ids.contains($0.id) && self.replacement(for: $0) != nil }
      if !outdated.isEmpty { self.replace(Set(outdated.lazy.map(\.id)), in: holder) }
    }
  }

  /// Replaces entities in the confirmed value of a store.
  ///
  /// The value keeps its stamp: it was fetched when it was, and what has invalidated it still has. The records are looked up
  /// when the value is changed: two threads that replace the same entity both take the newest one.
  private func replace(_ ids: Set<Entity.ID>, in holder: Holder) {
    let id = StateLayerIdentifier(at: .earlierProcess(.min))
    guard let store = holder.reference.store else { return }
    let isAdded = holder.addLayer(store, id, EntityAuthor.correction) { entity in
      ids.contains(entity.id) ? self.replacement(for: entity) : nil
    }
    if isAdded { store.commitLayer(id) }
  }
}

extension EntityTable.State {
  fileprivate mutating func removeFromIndex(
    _ id: Entity.ID,
    _ holder: ObjectIdentifier,
    _ released: inout ReleasedValues
  ) {
    self.index[id]?.remove(holder)
    guard self.index[id]?.isEmpty == true, let entry = self.index.index(forKey: id) else { return }
    released.append(self.index.remove(at: entry))
    self.updateUnheld(id, &released)
  }
}

/// Who changes a store on behalf of the entities: the stores' observers know by the name that such a change is no edit.
enum EntityAuthor {
  static let correction = "entities"

  static func update(by operation: String) -> String { "\(operation) on \(Self.correction)" }

  static func isAuthor(_ name: String?) -> Bool {
    name.map { $0 == Self.correction || $0.hasSuffix(" on \(Self.correction)") } ?? false
  }
}
