internal import OperationFoundation

/// The newest entity with an identifier.
struct EntityRecord<Entity: Sendable>: Sendable {
  var value: Entity
  /// The number of the run or the edit that it comes from; 0 if it was restored, handed over or initial.
  var number: Int
  /// When it was read or edited; nil for an initial value.
  var date: Date?
  /// Differs after each change of the record.
  var revision = 0
  /// The place in the queue of entities that no store has; nil for one that a store has.
  var unheldNumber: Int?

  /// Whether it takes the place of older entities in the stores. One that was only restored does not: nothing says that it
  /// is newer than what another value was restored with.
  var isConfirmed: Bool { self.number > 0 }

  /// What becomes of the record when an entity with its identifier comes.
  enum Decision {
    case keep
    /// The same came again from a later run.
    case confirm(Int, Date)
    case replace(number: Int, Date?)
  }
}

extension EntityRecord where Entity: Equatable {
  /// What becomes of the record when an entity comes. Calls `==` of the entity.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - source: Where it comes from.
  /// - Returns: What becomes of the record.
  func decision(on entity: Entity, from source: EntitySource) -> Decision {
    let differs = self.value.isReplaced(by: entity)
    switch source {
    case .run(let number, let date), .edit(let number, let date):
      if differs { return number >= self.number ? .replace(number: number, date) : .keep }
      return number > self.number ? .confirm(number, date) : .keep
    case .partial: return .keep
    case .shown(let date):
      // The later one of a hand-over, also if it is later than a run here. Runs that have begun before stay older.
      let isNewer = (date ?? .distantPast) > (self.date ?? .distantPast)
      return differs && isNewer ? .replace(number: self.number, date) : .keep
    }
  }
}
