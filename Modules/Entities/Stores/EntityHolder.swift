internal import OperationCore
internal import OperationFoundation

/// A store as a place of the entities of one type.
final class EntityHolder<Entity: Identifiable & Equatable & Sendable>: Sendable where Entity.ID: Sendable {
  typealias Replacement = @Sendable (Entity) -> Entity?

  let reference: StoreReference
  /// Passes the entities of a part of the value to its second parameter.
  private let visit: @Sendable (any Sendable, (Entity) -> Void) -> Void
  /// Adds a layer that replaces entities. Returns false if the store has another state.
  let addLayer: @Sendable (OpaqueOperationStore, StateLayerIdentifier, _ author: String, @escaping Replacement) -> Bool

  init(
    _ reference: StoreReference,
    visit: @escaping @Sendable (any Sendable, (Entity) -> Void) -> Void,
    addLayer: @escaping @Sendable (OpaqueOperationStore, StateLayerIdentifier, String, @escaping Replacement) -> Bool
  ) {
    self.reference = reference
    self.visit = visit
    self.addLayer = addLayer
  }

  var id: ObjectIdentifier { ObjectIdentifier(self.reference) }

  /// The entities of the value without updates that are pending.
  var entities: [Entity] {
    guard let store = self.reference.store, store.valueStamp.kind > .placeholder else { return [] }
    var entities: [Entity] = []
    store.stateWithoutLayers.forEachPart { part in self.visit(part) { entities.append($0) } }
    return entities
  }
}

extension OperationState {
  /// Calls `body` with the parts of the value.
  fileprivate func forEachPart(_ body: (any Sendable) -> Void) {
    (self as? any PartitionedOperationState)?.visitParts(body)
  }
}

extension PartitionedOperationState {
  fileprivate func visitParts(_ body: (any Sendable) -> Void) {
    self.forEachChangedPart(of: self.currentValue, since: nil) { _, part in if let part { body(part) } }
  }
}

/// The entities of one type in the values of a store.
protocol EntityMember: Sendable {
  /// Adds the store, with the value that it has.
  func join()

  /// Removes the store.
  func leave()

  /// Compares the value of the store with what is known.
  func settle(from source: EntitySource)

  /// Notes what the store has after it was changed towards what is known.
  func note()
}

struct EntityMembership<Entity: Identifiable & Equatable & Sendable>: EntityMember where Entity.ID: Sendable {
  let table: EntityTable<Entity>
  let holder: EntityHolder<Entity>

  func join() {
    self.table.add(self.holder)
    self.settle(from: .shown(self.holder.reference.valueDate))
  }

  func leave() { self.table.remove(self.holder) }

  func settle(from source: EntitySource) { self.table.settle(self.holder, from: source) }

  func note() { self.table.note(self.holder) }
}
