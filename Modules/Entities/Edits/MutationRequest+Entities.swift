public import OperationCore
internal import OperationFoundation
public import OperationMutation

extension MutationRequest {
  /// Edits an entity in every value of the client that has it: at once, with the result of the call, or both.
  ///
  /// ```swift
  /// RenamePost().editsEntity(Post.self, id: \.postID) { post, arguments in
  ///   post.title = arguments.title
  /// } result: { $0 }
  /// ```
  ///
  /// - While the call is active, the stores show the entity with the update, also those that get it meanwhile. The updates
  ///   of several calls are applied one over the other, in the order in which the calls began, and again to each newer
  ///   entity.
  /// - If the call fails or is cancelled, its update is removed, and nothing else. A call that stays in a journal, which
  ///   makes it again, keeps its update.
  /// - If the call succeeds, the entity of its result takes the place of the known one; without `result` the update
  ///   becomes part of it. No run that began before brings an older one back.
  ///
  /// It does not say that values are stale: lists that the entity has left or entered are for tags, or for an
  /// invalidation. Several of these modifiers add up.
  ///
  /// - Parameters:
  ///   - entity: The type of the entity.
  ///   - id: Returns the identifier of the entity for the arguments of the call.
  ///   - update: Shows the expected effect, with the arguments of the call. It is called whenever the entity changes, on any
  ///     thread and with no lock held, so it must depend on its parameters only, and leave the identifier as it is. Nil to
  ///     show nothing until the call has ended.
  ///   - result: Returns the entity in the value of the call; nil if it has none.
  /// - Returns: The mutation with the edit.
  public func editsEntity<Entity: Identifiable & Equatable & Sendable>(
    _ entity: Entity.Type,
    id: @escaping @Sendable (Arguments) -> Entity.ID,
    optimistically update: (@Sendable (inout Entity, Arguments) -> Void)? = nil,
    result: (@Sendable (MutateValue) -> Entity?)? = nil
  ) -> ModifiedOperation<Self, EntityEdit<Self, Entity>> where Entity.ID: Sendable {
    self.modifier(EntityEdit(id: id, update: update, result: result))
  }
}

/// The modifier that `.editsEntity(_:id:optimistically:result:)` applies: edits an entity in the values that have it.
public struct EntityEdit<Operation: MutationRequest, Entity: Identifiable & Equatable & Sendable>: OperationModifier
where Entity.ID: Sendable {
  private let effect = EffectIdentifier()
  private let id: @Sendable (Operation.Arguments) -> Entity.ID
  private let update: (@Sendable (inout Entity, Operation.Arguments) -> Void)?
  private let result: (@Sendable (Operation.MutateValue) -> Entity?)?

  fileprivate init(
    id: @escaping @Sendable (Operation.Arguments) -> Entity.ID,
    update: (@Sendable (inout Entity, Operation.Arguments) -> Void)?,
    result: (@Sendable (Operation.MutateValue) -> Entity?)?
  ) {
    self.id = id
    self.update = update
    self.result = result
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".editsEntity(\(Entity.self).self, …)" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    context.addMutationEffects()
    operation.setup(context: &context)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    let name = operation.operationName
    return try await operation.run(
      isolation: isolation,
      in: context,
      with: continuation,
      showing: self.effect,
      as: { arguments, client, place in self.layer(of: arguments, in: client, at: place, by: name) }
    )
  }

  private func layer(
    of arguments: Operation.Arguments,
    in client: OperationClient,
    at place: StateLayerPlace,
    by name: String
  ) -> EntityUpdateLayer<Entity> {
    var edit: (@Sendable (inout Entity) -> Void)?
    if let update = self.update { edit = { update(&$0, arguments) } }
    var entity: (@Sendable (any Sendable) -> Entity?)?
    if let result = self.result { entity = { value in (value as? Operation.MutateValue).flatMap(result) } }
    return EntityUpdateLayer(
      of: self.id(arguments),
      in: client.entities(of: Entity.self),
      at: place,
      by: name,
      now: { [weak client] in client?.defaultContext.date ?? .distantPast },
      edit: edit,
      entity: entity
    )
  }
}

extension EntityEdit: UpdatingModifier {
  package func showUpdate(_ request: UpdateRequest, of operation: any OperationRequest) {
    guard let arguments = request.arguments as? Operation.Arguments else { return }
    request.show(self.effect) {
      self.layer(of: arguments, in: request.client, at: $0, by: operation.operationName)
    }
  }
}
