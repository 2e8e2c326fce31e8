internal import OperationCore

/// Reads and replaces the entities at one place of a value.
struct EntityAccess<Value: Sendable, Entity: Identifiable & Equatable & Sendable>: Sendable where Entity.ID: Sendable {
  let visit: @Sendable (Value, (Entity) -> Void) -> Void
  /// Replaces the entities for which its second parameter returns another.
  let replace: @Sendable (inout Value, (Entity) -> Entity?) -> Void
}

/// The entities of one type in a value.
protocol EntityPartGroup<Value>: Sendable {
  associatedtype Value: Sendable

  /// Replaces the entities of a value for which the client knows newer ones.
  func newest(
    in value: Value,
    from source: EntitySource,
    of client: OperationClient,
    in store: StoreReference?
  ) -> Value

  /// The entities of this type in the values of a store.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - client: Its client.
  ///   - state: The state that the values are read from and written to.
  /// - Returns: The member.
  func member<State: EntityState>(
    of store: StoreReference,
    in client: OperationClient,
    as state: State.Type
  ) -> any EntityMember where State.ValuePart == Value
}

struct EntityGroup<Value: Sendable, Entity: Identifiable & Equatable & Sendable>: EntityPartGroup
where Entity.ID: Sendable {
  var accesses: [EntityAccess<Value, Entity>]

  func visit(_ value: Value, _ body: (Entity) -> Void) {
    for access in self.accesses { access.visit(value, body) }
  }

  /// Replaces entities. Returns whether there were any to replace.
  @discardableResult
  func replace(in value: inout Value, _ replacement: (Entity) -> Entity?) -> Bool {
    var isReplaced = false
    for access in self.accesses {
      access.replace(&value) { entity in
        let replaced = replacement(entity)
        if replaced != nil { isReplaced = true }
        return replaced
      }
    }
    return isReplaced
  }

  func newest(
    in value: Value,
    from source: EntitySource,
    of client: OperationClient,
    in store: StoreReference?
  ) -> Value {
    let table = client.entities(of: Entity.self)
    var entities: [Entity] = []
    self.visit(value) { entities.append($0) }
    let known = table.take(entities, from: source, except: store)
    var value = value
    self.replace(in: &value) { entity in known[entity.id].flatMap { entity.isReplaced(by: $0) ? $0 : nil } }
    return value
  }

  func member<State: EntityState>(
    of store: StoreReference,
    in client: OperationClient,
    as state: State.Type
  ) -> any EntityMember where State.ValuePart == Value {
    let holder = EntityHolder<Entity>(
      store,
      visit: { value, body in
        if let value = value as? Value { self.visit(value, body) }
      },
      addLayer: { store, id, author, replacement in
        store.addLayer(id, over: State.self, by: author) { value in
          State.editParts(of: &value) { self.replace(in: &$0, replacement) }
        }
      }
    )
    return EntityMembership(table: client.entities(of: Entity.self), holder: holder)
  }
}

extension Equatable {
  /// Whether another value is to take the place of this one. One that is unequal to itself, such as a NaN, never does: it
  /// would without end.
  func isReplaced(by other: Self) -> Bool { self != other && other == other }
}
