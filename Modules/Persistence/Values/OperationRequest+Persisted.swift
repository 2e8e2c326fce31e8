public import OperationCore

extension StatefulOperationRequest where State: RestorableState, State.Restoration: Codable {
  /// Stores the value of the operation, so that later stores begin with it, also after a restart.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).stale(after: .seconds(60)).persisted(as: "post", version: 1)
  /// ```
  ///
  /// Each store writes its own entry a moment after its value has changed: see
  /// ``OperationCore/OperationContext/operationPersistenceDelay``. A store that is made later begins with the value,
  /// its dates and counts, and is stale if the value is too old by then. Optimistic updates are not stored.
  ///
  /// A store has the value when it is made if the storage answers without suspending, or if
  /// ``OperationCore/OperationClient/restore(matching:from:)`` has read the value before. Otherwise the value arrives
  /// as a change of the state, and automatic runs wait for it: see
  /// ``OperationCore/OperationContext/operationRestorationLimit``. A value that was set or fetched meanwhile is newer
  /// and stays.
  ///
  /// A stored value that has another version, is too old or cannot be decoded is removed, and reported as
  /// ``OperationCore/OperationWarning/Code/storedValueDropped``.
  ///
  /// - Parameters:
  ///   - name: The name of the value. It and the path of the operation identify the entry, so operations of one type
  ///     may have the same name. Each element of the path needs a key: see ``StorageKeyConvertible``. A type without one
  ///     is reported once as ``OperationCore/OperationWarning/Code/unstorablePath``, and the value is not stored.
  ///   - version: The version of the stored form. Change it when older stored values must not be used.
  ///   - maximumAge: How old a stored value may be by the ``/OperationCore/OperationClock`` of the context, and how far
  ///     in the future if the clock was set back; nil for any age.
  ///   - storage: The storage; nil for ``OperationCore/OperationContext/operationStorage``.
  ///   - isExcluded: Returns true for a value that may not be stored. The value that was stored before is removed then.
  /// - Returns: The operation, whose value is stored.
  public func persisted(
    as name: String,
    version: Int = 1,
    maximumAge: Duration? = nil,
    in storage: (any PersistentStorage)? = nil,
    unless isExcluded: (@Sendable (State.RestorableValue) -> Bool)? = nil
  ) -> ModifiedOperation<Self, Persisted<Self>> {
    let settings = PersistenceSettings<State>(
      name: name,
      version: version,
      maximumAge: maximumAge,
      storage: storage,
      isExcluded: isExcluded
    )
    return self.modifier(Persisted(settings: settings))
  }
}

/// Stores the value of an operation; applied by `.persisted(as:version:maximumAge:in:unless:)`.
public struct Persisted<Operation: StatefulOperationRequest>: OperationModifier
where Operation.State: RestorableState, Operation.State.Restoration: Codable {
  let settings: PersistenceSettings<Operation.State>

  public var sourceText: String { ".persisted(as: \"\(self.settings.name)\")" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
    // Each store has its own, because a store calls the setup once.
    let persistence = StorePersistence<Operation.State>(self.settings)
    context.operationControllers.append(persistence)
    context.operationEventHandlers.append(
      OperationEventHandler<Operation.State>(onStateChanged: { _, _ in persistence.noteChange() })
    )
    context.operationRestoration = persistence
    if context.isAutomaticRunningConfigured {
      let specification = AnySendableRunSpecification(context.automaticRunningSpecification)
      context.automaticRunningSpecification = specification && persistence.readiness
    }
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// How the values of an operation are stored.
struct PersistenceSettings<State: RestorableState & Sendable>: Sendable {
  let name: String
  let version: Int
  let maximumAge: Duration?
  let storage: (any PersistentStorage)?
  let isExcluded: (@Sendable (State.RestorableValue) -> Bool)?
}
