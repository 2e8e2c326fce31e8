public import OperationCore
internal import OperationFoundation

extension StatefulOperationRequest where State: RestorableState, State.Restoration: Codable {
  /// Hands the value of the operation over to another process, as part of the result of `client.dehydrate()`.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).stale(after: .seconds(60)).hydratable(as: "post", version: 1)
  /// ```
  ///
  /// In the other process, `client.hydrate(_:)` gives the value to the store of the same operation, with its date. The
  /// values of other operations are not handed over, even if they are persisted: apply both modifiers to a value that
  /// is both stored and handed over.
  ///
  /// A value that has another version or cannot be decoded is dropped, and reported as
  /// ``OperationCore/OperationWarning/Code/storedValueDropped``.
  ///
  /// - Parameters:
  ///   - name: The name of the value. It and the path of the operation identify the value, so operations of one type may
  ///     have the same name. Each element of the path needs a key: see ``StorageKeyConvertible``. A type without one is
  ///     reported once as ``OperationCore/OperationWarning/Code/unstorablePath``, and the value is not handed over.
  ///   - version: The version of the encoded form of the value. Raise it if older processes must not use the value.
  ///   - exclusion: Which values may not leave the process; nil if all may.
  /// - Returns: The operation, whose value is handed over.
  public func hydratable(
    as name: String,
    version: Int = 1,
    excluding exclusion: StorageExclusion<State.RestorableValue>? = nil
  ) -> ModifiedOperation<Self, Hydratable<Self>> {
    self.modifier(
      Hydratable(settings: HydrationSettings<State>(name: name, version: version, isExcluded: exclusion?.contains))
    )
  }
}

/// Hands the value of an operation over to another process; applied by `.hydratable(as:version:excluding:)`.
public struct Hydratable<Operation: StatefulOperationRequest>: OperationModifier
where Operation.State: RestorableState, Operation.State.Restoration: Codable {
  let settings: HydrationSettings<Operation.State>

  public var sourceText: String { ".hydratable(as: \"\(self.settings.name)\")" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
    context.keep(with: self.settings)
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

/// How the values of an operation are handed over.
struct HydrationSettings<State: RestorableState & Sendable>: Sendable {
  let name: String
  let version: Int
  let isExcluded: (@Sendable (State.RestorableValue) -> Bool)?
}

extension HydrationSettings: LevelBinding where State.Restoration: Codable {
  var takesChanges: Bool { false }

  func place(of controls: OperationControls<State>) -> LevelPlace? {
    guard let client = controls.context.operationClient else { return nil }
    do throws(NoStorageKey) {
      let key = try LevelKey(storing: self.name, version: self.version, at: controls.path)
      return LevelPlace(client.hydration, keys: [key])
    } catch {
      if client.persistence.isFirst(error) { error.report(at: controls.path) }
      return nil
    }
  }

  func mayKeep(_ value: State.RestorableValue) -> Bool { self.isExcluded.map { !$0(value) } ?? true }

  func encode(_ restoration: State.Restoration) throws -> [UInt8] { try StorageCoding.encode(restoration) }

  func decode(
    _ value: LevelValue,
    in context: OperationContext
  ) throws -> (restoration: State.Restoration, isCurrent: Bool) {
    try Envelope.decode(State.Restoration.self, from: value, version: self.version)
  }

  func report(_ error: any Error, at place: LevelPlace) -> Bool {
    OperationWarning(
      code: .storedValueDropped,
      severity: .failure,
      message: """
        The value that was handed over for the operation at \(ShownText.of(place.key.path)) with the name \
        "\(self.name)" is dropped: \(ShownText.of(error)).
        """
    ).report()
    return false
  }

  func storeWasReleased(at place: LevelPlace, valueDate: Date?) {
    // `place(of:)` alone makes places.
    unsafeDowncast(place.level, to: ClientHydration.self).storeWasReleased(place.key, with: valueDate)
  }
}
