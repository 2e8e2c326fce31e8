/// Says which parts of a value are entities, by key paths.
///
/// ```swift
/// PostQuery(id: 7).entities { post in
///   post.one(\.author)
///   post.each(\.comments)
/// }
/// ```
///
/// An entity is a part with an identifier: `Identifiable`, and `Equatable`, so that an edit is known from a repetition. The
/// type and the identifier say which entity it is. An entity is whole: what is inside of it changes with it.
public struct EntityParts<Value: Sendable>: Sendable {
  /// One for each type of entity. Each is an `EntityGroup`.
  private(set) var groups: [any EntityPartGroup<Value>] = []

  init(_ describe: (inout Self) -> Void) {
    describe(&self)
  }

  /// The part at a key path is an entity; `\.self` if the value is one.
  ///
  /// - Parameter path: The key path of the part.
  public mutating func one<Entity: Identifiable & Equatable & Sendable>(
    _ path: any WritableKeyPath<Value, Entity> & Sendable
  ) where Entity.ID: Sendable {
    self.add(
      EntityAccess(
        visit: { value, body in body(value[keyPath: path]) },
        replace: { value, replacement in
          if let entity = replacement(value[keyPath: path]) { value[keyPath: path] = entity }
        }
      )
    )
  }

  /// The part at a key path is an entity, if there is one.
  ///
  /// - Parameter path: The key path of the part.
  public mutating func one<Entity: Identifiable & Equatable & Sendable>(
    _ path: any WritableKeyPath<Value, Entity?> & Sendable
  ) where Entity.ID: Sendable {
    self.add(
      EntityAccess(
        visit: { value, body in if let entity = value[keyPath: path] { body(entity) } },
        replace: { value, replacement in
          if let entity = value[keyPath: path].flatMap(replacement) { value[keyPath: path] = entity }
        }
      )
    )
  }

  /// The elements of the array at a key path are entities; `\.self` if the value is such an array.
  ///
  /// - Parameter path: The key path of the array.
  public mutating func each<Entity: Identifiable & Equatable & Sendable>(
    _ path: any WritableKeyPath<Value, [Entity]> & Sendable
  ) where Entity.ID: Sendable {
    self.add(
      EntityAccess(
        visit: { value, body in for entity in value[keyPath: path] { body(entity) } },
        replace: { value, replacement in
          // Most values have none of the entities, and writing would copy the array.
          var edits: [(Int, Entity)] = []
          for (index, entity) in value[keyPath: path].enumerated() {
            if let replaced = replacement(entity) { edits.append((index, replaced)) }
          }
          for (index, entity) in edits { value[keyPath: path][index] = entity }
        }
      )
    )
  }

  /// The parts that a closure visits are entities: for values in which no key path leads to them, such as nested
  /// collections.
  ///
  /// ```swift
  /// BoardQuery().entities { board in
  ///   board.all(Card.self) { board, visit in
  ///     for column in board.columns.indices {
  ///       for card in board.columns[column].cards.indices { visit(&board.columns[column].cards[card]) }
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the entities.
  ///   - visit: Passes each of them to its second parameter, in place. It is called with no lock held, on any thread, and must
  ///     depend on the value only.
  public mutating func all<Entity: Identifiable & Equatable & Sendable>(
    _ type: Entity.Type,
    _ visit: @escaping @Sendable (inout Value, (inout Entity) -> Void) -> Void
  ) where Entity.ID: Sendable {
    self.add(
      EntityAccess(
        visit: { value, body in
          var copy = value
          visit(&copy) { body($0) }
        },
        replace: { value, replacement in
          visit(&value) { entity in
            if let replaced = replacement(entity) { entity = replaced }
          }
        }
      )
    )
  }

  private mutating func add<Entity>(_ access: EntityAccess<Value, Entity>) {
    for index in self.groups.indices {
      guard var group = self.groups[index] as? EntityGroup<Value, Entity> else { continue }
      group.accesses.append(access)
      self.groups[index] = group
      return
    }
    self.groups.append(EntityGroup(accesses: [access]))
  }
}
