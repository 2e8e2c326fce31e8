internal import OperationCore
internal import OperationFoundation

extension EntityTable {
  /// Decides for each entity whether it or the known one is newer, and shows those that are new in the stores.
  ///
  /// - Parameters:
  ///   - entities: The entities. Of several with one identifier the last counts.
  ///   - source: Where they come from.
  ///   - store: The store that is about to show them, or has them already.
  /// - Returns: Those that take the place of older ones.
  func take(_ entities: [Entity], from source: EntitySource, except store: StoreReference?) -> [Entity.ID: Entity] {
    if entities.isEmpty { return [:] }
    var left = entities.reduce(into: [:]) { $0[$1.id] = $1 }
    var newest: [Entity.ID: Entity] = [:]
    var changed: Set<Entity.ID> = []
    // Repeated only for records that another thread has changed between the comparisons and the lock.
    while !left.isEmpty {
      let decisions = self.decisions(on: left, from: source)
      left = self.perform(decisions, from: source, &newest, &changed)
    }
    if !changed.isEmpty { self.show(changed, except: store) }
    return newest
  }

  private struct Decided {
    let entity: Entity
    /// The revision of the record that was compared; nil if there was none.
    let revision: Int?
    let decision: EntityRecord<Entity>.Decision
  }

  /// Compares entities with the records, with no lock held.
  private func decisions(on entities: [Entity.ID: Entity], from source: EntitySource) -> [Decided] {
    let records = self.state.withLock { state in
      entities.keys.reduce(into: [:]) { $0[$1] = state.records[$1] }
    }
    return entities.values.map { entity in
      let record: EntityRecord<Entity>? = records[entity.id]
      let decision: EntityRecord<Entity>.Decision =
        if let record {
          record.decision(on: entity, from: source)
        } else {
          switch source {
          case .run(let number, let date), .edit(let number, let date): .replace(number: number, date)
          case .partial: .keep
          case .shown(let date): .replace(number: 0, date)
          }
        }
      return Decided(entity: entity, revision: record?.revision, decision: decision)
    }
  }

  /// Changes the records.
  ///
  /// - Returns: The entities whose records were changed meanwhile.
  private func perform(
    _ decisions: [Decided],
    from source: EntitySource,
    _ newest: inout [Entity.ID: Entity],
    _ changed: inout Set<Entity.ID>
  ) -> [Entity.ID: Entity] {
    var left: [Entity.ID: Entity] = [:]
    self.state.withLock { state, released in
      if let number = source.number, number <= state.floor { return }
      for decided in decisions {
        let (entity, id) = (decided.entity, decided.entity.id)
        guard state.records[id]?.revision == decided.revision else {
          left[id] = entity
          continue
        }
        switch decided.decision {
        case .keep: break
        case .confirm(let number, let date):
          // The stores have not been compared with a record that was only restored.
          if state.records[id]?.isConfirmed == false { changed.insert(id) }
          state.records[id]?.number = number
          state.records[id]?.date = date
        case .replace(let number, let date):
          if let former = state.records[id] { released.append(former) }
          if number > 0 { changed.insert(id) }
          state.put(entity, number, date, &released)
        }
        guard let record = state.records[id], record.isConfirmed else { continue }
        // What a run has yielded stays in its store, unless something newer is known.
        if case .partial(let number) = source, record.number <= number { continue }
        newest[id] = record.value
      }
    }
    return left
  }
}

extension EntityTable.State {
  /// Writes a record.
  mutating func put(_ entity: Entity, _ number: Int, _ date: Date?, _ released: inout ReleasedValues) {
    self.lastNumber += 1
    let revision = self.lastNumber
    if self.records[entity.id] != nil {
      self.records[entity.id]?.value = entity
      self.records[entity.id]?.number = number
      self.records[entity.id]?.date = date
      self.records[entity.id]?.revision = revision
    } else {
      self.records[entity.id] = EntityRecord(value: entity, number: number, date: date, revision: revision)
    }
    self.updateUnheld(entity.id, &released)
  }

  /// Notes whether a store has an entity, and removes the oldest of those that none has if there are too many.
  mutating func updateUnheld(_ id: Entity.ID, _ released: inout ReleasedValues) {
    guard let record = self.records[id] else { return }
    if self.index[id] != nil {
      if record.unheldNumber != nil {
        self.records[id]?.unheldNumber = nil
        self.unheldCount -= 1
      }
      return
    }
    if record.unheldNumber != nil { return }
    if record.revision <= self.discarded {
      released.append(self.records.removeValue(forKey: id))
      return
    }
    self.lastNumber += 1
    self.records[id]?.unheldNumber = self.lastNumber
    self.unheld.append((id, self.lastNumber))
    self.unheldCount += 1
    self.removeUnheld(&released)
  }

  private mutating func removeUnheld(_ released: inout ReleasedValues) {
    let limit = EntityTable<Entity>.unheldLimit
    guard self.unheldCount > limit || self.unheld.count > 4 * limit else { return }
    // Several at a time. The outdated entries go, too: each that is left is one of `unheldCount`.
    var excess = self.unheldCount > limit ? self.unheldCount - limit * 3 / 4 : 0
    released.append(self.unheld)
    self.unheld = self.unheld.filter { entry in
      guard self.records[entry.id]?.unheldNumber == entry.number else { return false }
      if excess <= 0 { return true }
      excess -= 1
      released.append(self.records.removeValue(forKey: entry.id))
      self.unheldCount -= 1
      return false
    }
  }
}
