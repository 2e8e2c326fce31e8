public import OperationCore
public import OperationMutation

extension MutationRequest {
  /// Marks the stores that show values with tags as stale when a call has succeeded, and reruns those with subscribers.
  ///
  /// ```swift
  /// EditPost().invalidates(tagged: { edit, post in [.entity("post", post.id), .entity("author", edit.authorId)] })
  /// ```
  ///
  /// It is performed when the call has ended, after all its attempts, for the stores that show the tags at that time. The
  /// caller does not wait for the reruns. An optimistic update of the same mutation is shown in these stores until the
  /// rerun has fetched a value, as with the mutation's `invalidates(matching:)`. Several of both add up, and a store that
  /// several of them name is invalidated once.
  ///
  /// - Parameter tags: Returns the tags for the arguments and the value of a call. Called in the task of the call, with no
  ///   lock held, for each attempt that succeeds.
  /// - Returns: The mutation with the invalidation around it.
  public func invalidates(
    tagged tags: @escaping @Sendable (Arguments, MutateValue) -> [OperationTag]
  ) -> ModifiedOperation<Self, TagInvalidation<Self>> {
    self.modifier(TagInvalidation(tags: tags))
  }

  /// Marks the stores that show values with tags as stale when a call has succeeded, and reruns those with subscribers.
  ///
  /// - Parameters:
  ///   - tag: A tag.
  ///   - more: Further tags.
  /// - Returns: The mutation with the invalidation around it.
  public func invalidates(
    tagged tag: OperationTag,
    _ more: OperationTag...
  ) -> ModifiedOperation<Self, TagInvalidation<Self>> {
    self.invalidates(tagged: { [tags = [tag] + more] _, _ in tags })
  }
}

/// The modifier that `.invalidates(tagged:)` applies: marks stores stale when a call has succeeded.
public struct TagInvalidation<Operation: MutationRequest>: OperationModifier {
  let tags: @Sendable (Operation.Arguments, Operation.MutateValue) -> [OperationTag]

  init(tags: @escaping @Sendable (Operation.Arguments, Operation.MutateValue) -> [OperationTag]) {
    self.tags = tags
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".invalidates(tagged: …)" }

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
    try await operation.run(isolation: isolation, in: context, with: continuation) { arguments, value in
      let tags = self.tags(arguments, value)
      return (
        subject: { tags.explanation },
        stores: { client in
          client.noteInvalidation(of: tags)
          return client.storesInOrder(tagged: tags)
        }
      )
    }
  }
}
