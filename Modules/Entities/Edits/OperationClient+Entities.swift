public import OperationCore

extension OperationClient {
  /// The newest entity that the client knows, with the updates that are pending: as the stores show it.
  ///
  /// ```swift
  /// let initial = client.entity(Post.self, id: 7)  // From a list, for the page of the post.
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the entity.
  ///   - id: Its identifier.
  /// - Returns: The entity; nil if no store has it, and none had it lately.
  public func entity<Entity: Identifiable & Equatable & Sendable>(_ type: Entity.Type, id: Entity.ID) -> Entity?
  where Entity.ID: Sendable {
    self.entities(of: Entity.self).shown(id)
  }

  /// Puts an entity into every value of the client that has one with its identifier: for one that a service has pushed.
  ///
  /// It is newer than what any run brings that began before. The values keep their dates and stay as stale as they are.
  ///
  /// - Parameter entity: The entity.
  public func putEntity<Entity: Identifiable & Equatable & Sendable>(_ entity: Entity) where Entity.ID: Sendable {
    let table = self.entities(of: Entity.self)
    let number = EntityClock.next()
    table.confirm(entity, number, self.defaultContext.date, since: number)
    table.show([entity.id])
  }
}

extension OperationClient {
  /// The numbers of known entities of a type, of those that no store has, and of stores that may have some.
  package func entityCounts<Entity: Identifiable & Equatable & Sendable>(
    of type: Entity.Type
  ) -> (known: Int, unheld: Int, stores: Int) where Entity.ID: Sendable {
    self.entities(of: Entity.self).counts
  }
}
