public import OperationCore

extension StatefulOperationRequest {
  /// Gives the stores of this operation tags, whatever their values are.
  ///
  /// Several `tagged` modifiers add up. A store that belongs to no client cannot be found by its tags.
  ///
  /// - Parameters:
  ///   - tag: A tag.
  ///   - more: Further tags.
  /// - Returns: The operation with the tags.
  public func tagged(_ tag: OperationTag, _ more: OperationTag...) -> ContextModifiedOperation<Self> {
    let tags = [tag] + more
    return self.tagged(as: ".tagged(\(tags.map(\.description).joined(separator: ", ")))") { $0.constants += tags }
  }
}

extension StatefulOperationRequest where State: PartitionedOperationState {
  /// Gives the stores of this operation the tags of the values that they show.
  ///
  /// ```swift
  /// PostsQuery().tagged { posts in posts.map { .entity("post", $0.id) } }
  /// ```
  ///
  /// The tags follow the value as the store shows it: set, yielded, restored, changed by an optimistic update, or reset.
  /// A store without a value has none of these tags. The store of a paginated operation has the tags of all its pages.
  ///
  /// - Parameter tags: Returns the tags of a value, or of one page of a paginated operation. It is called with no lock
  ///   held, on any thread, and possibly more than once for a value, so it must depend on the value only, and must not
  ///   use a client or a store.
  /// - Returns: The operation with the tags.
  public func tagged(
    _ tags: @escaping @Sendable (State.ValuePart) -> [OperationTag]
  ) -> ContextModifiedOperation<Self> {
    self.tagged(as: ".tagged { … }") { $0.rules.append(ValueTags(tags)) }
  }
}

// MARK: - By identifiers

extension StatefulOperationRequest where State: PartitionedOperationState {
  /// Gives the stores of this operation the tag of the thing that they show, by its identifier.
  ///
  /// - Parameter kind: The name of the kind: the tag is `OperationTag.entity(kind, value.id)`.
  /// - Returns: The operation with the tags, as `tagged` with a closure adds them.
  public func taggedByID(_ kind: String) -> ContextModifiedOperation<Self>
  where State.ValuePart: Identifiable, State.ValuePart.ID: Sendable {
    self.tagged(as: ".taggedByID(\(kind.debugDescription))") {
      $0.rules.append(ValueTags<State.ValuePart> { value in [.entity(kind, value.id)] })
    }
  }

  /// Gives the stores of this operation the tag of the thing that they show, if there is one, by its identifier.
  ///
  /// - Parameter kind: The name of the kind: the tag is `OperationTag.entity(kind, value.id)`.
  /// - Returns: The operation with the tags.
  public func taggedByID<Thing: Identifiable>(_ kind: String) -> ContextModifiedOperation<Self>
  where State.ValuePart == Thing?, Thing.ID: Sendable {
    self.tagged(as: ".taggedByID(\(kind.debugDescription))") {
      $0.rules.append(ValueTags<Thing?> { value in value.map { [.entity(kind, $0.id)] } ?? [] })
    }
  }

  /// Gives the stores of this operation the tags of the things that they show, by their identifiers.
  ///
  /// - Parameter kind: The name of the kind: the tags are `OperationTag.entity(kind, element.id)`.
  /// - Returns: The operation with the tags.
  public func taggedByID(_ kind: String) -> ContextModifiedOperation<Self>
  where State.ValuePart: Sequence, State.ValuePart.Element: Identifiable, State.ValuePart.Element.ID: Sendable {
    self.tagged(as: ".taggedByID(\(kind.debugDescription))") {
      $0.rules.append(ValueTags<State.ValuePart> { value in value.map { .entity(kind, $0.id) } })
    }
  }
}

extension StatefulOperationRequest {
  private func tagged(
    as text: @autoclosure () -> String,
    _ edit: @escaping @Sendable (inout TagObserver.Tags) -> Void
  ) -> ContextModifiedOperation<Self> {
    self.adding { context in
      if let observer = context.tagObserver { return observer.edit(edit) }
      let observer = TagObserver()
      observer.edit(edit)
      context.operationObservers.append(observer)
    }
    .written(text())
  }
}
