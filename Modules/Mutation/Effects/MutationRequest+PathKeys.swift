public import OperationCore

extension MutationRequest {
  /// Shows the expected effect of a call in the stores at the path of a key and below it.
  ///
  /// ```swift
  /// RenamePost().optimistic(on: { PathKeys.post($0.id) }) { post, arguments in post?.title = arguments.title }
  /// ```
  ///
  /// The key says which state the stores have: see ``optimistic(on:of:apply:)-(OperationPath,_,_)``.
  ///
  /// - Parameters:
  ///   - key: Returns the key for the arguments of the call.
  ///   - apply: Makes the update. It is called again whenever the value below changes, on any thread and with no lock
  ///     held, so it must depend on its arguments only.
  /// - Returns: The mutation with the update around it.
  public func optimistic<Target: OverlayableState & Sendable>(
    on key: @escaping @Sendable (Arguments) -> OperationPathKey<Target>,
    apply: @escaping @Sendable (inout Target.StateValue, Arguments) -> Void
  ) -> ModifiedOperation<Self, OptimisticUpdate<Self, Target>> {
    self.optimistic(on: { key($0).path }, of: Target.self, apply: apply)
  }

  /// Shows the expected effect of a call in the stores at the path of a key and below it.
  ///
  /// See ``optimistic(on:of:apply:)-(OperationPath,_,_)``.
  ///
  /// - Parameters:
  ///   - key: The key, which says which state the stores have.
  ///   - apply: Makes the update.
  /// - Returns: The mutation with the update around it.
  public func optimistic<Target: OverlayableState & Sendable>(
    on key: OperationPathKey<Target>,
    apply: @escaping @Sendable (inout Target.StateValue, Arguments) -> Void
  ) -> ModifiedOperation<Self, OptimisticUpdate<Self, Target>> {
    self.optimistic(on: key.path, of: Target.self, apply: apply)
  }

  /// Shows the expected effect of a call in the stores below a prefix.
  ///
  /// See ``optimistic(on:of:apply:)-(OperationPath,_,_)``.
  ///
  /// - Parameters:
  ///   - prefix: The common beginning of their paths, which says which state the stores have.
  ///   - apply: Makes the update.
  /// - Returns: The mutation with the update around it.
  public func optimistic<Target: OverlayableState & Sendable>(
    on prefix: OperationPathPrefix<Target>,
    apply: @escaping @Sendable (inout Target.StateValue, Arguments) -> Void
  ) -> ModifiedOperation<Self, OptimisticUpdate<Self, Target>> {
    self.optimistic(on: prefix.path, of: Target.self, apply: apply)
  }

  /// Marks the stores at the path of a key and below it as stale when a call has succeeded, and reruns those with subscribers.
  ///
  /// See ``invalidates(matching:)-(OperationPath)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The mutation with the invalidation around it.
  public func invalidates<Target>(
    matching key: OperationPathKey<Target>
  ) -> ModifiedOperation<Self, MutationInvalidation<Self>> {
    self.invalidates(matching: key.path)
  }

  /// Marks the stores below a prefix as stale when a call has succeeded, and reruns those with subscribers.
  ///
  /// See ``invalidates(matching:)-(OperationPath)``.
  ///
  /// - Parameter prefix: The common beginning of their paths.
  /// - Returns: The mutation with the invalidation around it.
  public func invalidates<Target>(
    matching prefix: OperationPathPrefix<Target>
  ) -> ModifiedOperation<Self, MutationInvalidation<Self>> {
    self.invalidates(matching: prefix.path)
  }

  /// Marks the stores at the path of a key and below it as stale when a call has succeeded, and reruns those with subscribers.
  ///
  /// See ``invalidates(matching:)-(OperationPath)``.
  ///
  /// - Parameter key: Returns the key for the arguments of the call.
  /// - Returns: The mutation with the invalidation around it.
  public func invalidates<Target>(
    matching key: @escaping @Sendable (Arguments) -> OperationPathKey<Target>
  ) -> ModifiedOperation<Self, MutationInvalidation<Self>> {
    self.invalidates { key($0).path }
  }
}
