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
  /// ``/OperationCore/OperationContext/operationRestorationLimit``. A value that was set or fetched meanwhile is newer
  /// and stays. The first bodies of a process wait as well, until a storage that several processes share has told which
  /// values another one has removed.
  ///
  /// A stored value of an earlier version is migrated, and written again in the new form. Without `migrate:`, or if it is
  /// too old or cannot be decoded, it is removed, and reported as
  /// ``OperationCore/OperationWarning/Code/storedValueDropped``. A value of a later version, which a newer program has
  /// stored, is kept for that program: the store begins without it, stores no value in its place, and reports
  /// ``OperationCore/OperationWarning/Code/storedVersionUnknown``.
  ///
  /// ```swift
  /// .persisted(as: "note", version: 2, excluding: .where { $0.isDraft }, migrate: { bytes, _ in
  ///   try JSONDecoder().decode(StoredValue<NoteV1>.self, from: Data(bytes)).map { Note($0) }
  /// })
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the value. It and the path of the operation identify the entry, so operations of one type
  ///     may have the same name. Each element of the path needs a key: see ``StorageKeyConvertible``. A type without one
  ///     is reported once as ``OperationCore/OperationWarning/Code/unstorablePath``, and the value is not stored.
  ///   - aliases: Names that the value had in earlier versions of the program. If there is no value with the name, the
  ///     first of these that has one is used, and written with the name. The old entry stays for a program that knows it,
  ///     until the value is removed.
  ///   - version: The version of the stored form. Raise it when the form changes, or when older stored values must not
  ///     be used.
  ///   - maximumAge: How old a stored value may be by the ``/OperationCore/OperationClock`` of the context, and how far
  ///     in the future if the clock was set back; nil for any age. Values that are older are removed at the start of a
  ///     later program and every hour, also if no store is made for them. A negative age is reported and counts as zero.
  ///   - storage: The storage; nil for ``OperationCore/OperationContext/operationStorage``.
  ///   - coder: Encodes the value.
  ///   - exclusion: Which values may not be stored; nil if all may. The value that was stored before is removed then.
  ///   - migrate: Decodes a value of an earlier version, from what its coder has returned: for a query a
  ///     `StoredValue`.
  /// - Returns: The operation, whose value is stored.
  public func persisted(
    as name: String,
    aliases: [String] = [],
    version: Int = 1,
    maximumAge: Duration? = nil,
    in storage: (any PersistentStorage)? = nil,
    coder: any StorageCoder = .json,
    excluding exclusion: StorageExclusion<State.RestorableValue>? = nil,
    migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> State.Restoration)? = nil
  ) -> ModifiedOperation<Self, Persisted<Self>> {
    let settings = PersistenceSettings<State>(
      name: name,
      aliases: aliases,
      version: version,
      maximumAge: maximumAge?.reportedIfNegative(in: "persisted(as:maximumAge:)"),
      storage: storage,
      coder: coder,
      isExcluded: exclusion?.contains,
      migrate: migrate
    )
    return self.modifier(Persisted(settings: settings))
  }
}

/// Stores the value of an operation; applied by `.persisted(as:)`.
public struct Persisted<Operation: StatefulOperationRequest>: OperationModifier
where Operation.State: RestorableState, Operation.State.Restoration: Codable {
  let settings: PersistenceSettings<Operation.State>

  public var sourceText: String { ".persisted(as: \"\(self.settings.name)\")" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
    context.keep(with: self.settings)
    let storage = self.settings.storage ?? context.operationStorage
    guard storage == nil || storage?.sharedLeases != nil else { return }
    context.eraWait = EraWait()
    context.addEntriesToOutcomes()
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard let wait = context.eraWait, context.canAddToOutcome,
      let writer = await wait.unknowingWriter(of: self.settings.storage, context)
    else { return try await operation.run(isolation: isolation, in: context, with: continuation) }
    let restricted = OperationContinuation<Operation.Value, Operation.Failure> { result, yieldContext in
      writer.restrictOutcome(in: context)
      continuation.yield(with: result, using: yieldContext)
    }
    let value = try await operation.run(isolation: isolation, in: context, with: restricted)
    writer.restrictOutcome(in: context)
    return value
  }
}

extension OperationCore.StoredValue {
  /// Returns a restoration with the same dates and counts and another value, for migrations.
  ///
  /// - Parameter transform: Returns the new value. It is not called if there is no value.
  /// - Returns: The restoration.
  /// - Throws: The error of `transform`.
  public func map<NewValue: Sendable, E: Error>(
    _ transform: (Value) throws(E) -> NewValue
  ) throws(E) -> OperationCore.StoredValue<NewValue> {
    let value: NewValue? = if let value = self.value { try transform(value) } else { nil }
    return OperationCore.StoredValue<NewValue>(
      value: value,
      valueUpdateCount: self.valueUpdateCount,
      valueLastUpdatedAt: self.valueLastUpdatedAt,
      errorUpdateCount: self.errorUpdateCount,
      errorLastUpdatedAt: self.errorLastUpdatedAt
    )
  }
}
