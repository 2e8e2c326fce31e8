internal import OperationFoundation

extension StatefulOperationRequest where State: RestorableState, State.Restoration == StoredValue<Value> {
  /// Keeps the value of the operation in a level, such as a cache that the program brings along.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).stale(after: .seconds(60)).kept(in: cache, as: "post") {
  ///   Array(try JSONEncoder().encode($0))
  /// } decode: {
  ///   try JSONDecoder().decode(Post.self, from: Data($0))
  /// }
  /// ```
  ///
  /// A new store begins with the value of the level: at once if the level has it at hand, otherwise when it was looked up;
  /// subscribers and readers of fresh values wait for that, as long as ``OperationContext/operationRestorationLimit``. A
  /// level of the reach ``ValueReach/fleet`` is asked in each run instead, for a value that is not invalidated, and gets what
  /// runs return, but not the values of derived queries. The rules of the operation and the invalidations of the client decide
  /// whether the value is fresh. Each change is put into the level. Neither optimistic updates nor fallbacks are.
  ///
  /// ``OperationClient/clearEverything(within:switching:)`` removes all values of the level, and
  /// ``OperationClient/flush()`` waits until it has written them.
  ///
  /// - Parameters:
  ///   - level: The level. The client keeps it.
  ///   - name: The name of the value. It and the path of the operation identify the value in the level.
  ///   - version: The version of the encoded form. Values of other versions are dropped, with a report.
  ///   - maximumAge: How old a value of the level may be, by the clock of the context; nil for any age.
  ///   - encode: Encodes a value.
  ///   - decode: Decodes what `encode` has returned.
  /// - Returns: The operation, whose value is kept.
  public func kept(
    in level: any ValueLevel,
    as name: String,
    version: Int = 1,
    maximumAge: Duration? = nil,
    encode: @escaping @Sendable (Value) throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Value
  ) -> ModifiedOperation<Self, KeptInLevel<Self>> {
    let settings = LevelSettings<State, Value>(
      level: level,
      name: name,
      version: version,
      maximumAge: maximumAge?.reportedIfNegative(in: "kept(in:as:maximumAge:)"),
      encodeValue: encode,
      decodeValue: decode
    )
    return self.modifier(KeptInLevel(settings: settings))
  }
}

/// Keeps the value of an operation in a level; applied by `.kept(in:as:version:maximumAge:encode:decode:)`.
public struct KeptInLevel<Operation: StatefulOperationRequest>: OperationModifier
where Operation.State: RestorableState, Operation.State.Restoration == StoredValue<Operation.Value> {
  let settings: LevelSettings<Operation.State, Operation.Value>

  public var sourceText: String { ".kept(in: \(self.settings.level.name), as: \"\(self.settings.name)\")" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
    guard self.settings.level.reach == .fleet else { return context.keep(with: self.settings) }
    context.addEntriesToOutcomes()
    if context.hasSources { self.settings.reportSources(of: operation.path) }
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    // No other process could know when the sources change.
    guard self.settings.level.reach == .fleet, !context.hasSources else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    context.storeHost?.add(self.settings.level)
    let run = self.settings.run(at: operation.path, in: context)
    let place = LevelPlace(self.settings.level, keys: [self.settings.key(at: operation.path)])
    switch await run.begin(self.settings.demand(in: context), reporting: { _ = self.settings.report($0, at: place) }) {
    case .value(let value, _): return value
    case .cancelled: return try await operation.run(isolation: isolation, in: context, with: continuation)
    case .run(let right):
      do throws(Operation.Failure) {
        let value = try await operation.run(isolation: isolation, in: context, with: continuation)
        await run.end(with: value, under: right, maximumAge: self.settings.maximumAge) {
          self.settings.tags(of: value, in: context)
        }
        return value
      } catch {
        run.giveUp(right)
        throw error
      }
    }
  }
}

/// How the values of an operation are kept in a level that a program brings along.
struct LevelSettings<State: RestorableState & Sendable, Value: Sendable>: LevelBinding
where State.Restoration == StoredValue<Value> {
  let level: any ValueLevel
  let name: String
  let version: Int
  let maximumAge: Duration?
  let encodeValue: @Sendable (Value) throws -> [UInt8]
  let decodeValue: @Sendable ([UInt8]) throws -> Value

  func key(at path: OperationPath) -> LevelKey { LevelKey(path: path, name: self.name, version: self.version) }

  func place(of controls: OperationControls<State>) -> LevelPlace? {
    controls.context.storeHost?.add(self.level)
    return LevelPlace(self.level, keys: [self.key(at: controls.path)])
  }

  /// A state may have been set to no value.
  func encode(_ restoration: StoredValue<Value>) throws -> [UInt8] {
    try restoration.value.map { try [1] + self.encodeValue($0) } ?? [0]
  }

  func decode(
    _ value: LevelValue,
    in context: OperationContext
  ) throws -> (restoration: StoredValue<Value>, isCurrent: Bool) {
    if let version = value.version, version != self.version {
      throw LevelRefusal.version(version, expected: self.version)
    }
    if let maximumAge, let date = value.date {
      // The date is in the future if the clock was set back. The age is unknown then.
      let age = context.operationClock.now().timeIntervalSince(date)
      guard abs(age) <= maximumAge.seconds else { throw LevelRefusal.age(seconds: age, maximum: maximumAge) }
    }
    let bytes = try value.bytes()
    let restoration = StoredValue(
      value: bytes.first == 1 ? try self.decodeValue(Array(bytes.dropFirst())) : nil,
      valueUpdateCount: 1,
      valueLastUpdatedAt: value.date ?? .distantPast
    )
    return (restoration, true)
  }

  func report(_ error: any Error, at place: LevelPlace) -> Bool {
    OperationWarning(
      code: .levelFailed,
      severity: .failure,
      message: """
        The value of the operation at \(ShownText.of(place.key.path)) with the name "\(self.name)" in the level \(self.level.name) is not \
        used: \(ShownText.of(error)).
        """
    ).report()
    return false
  }

  /// Reports that the values are not put into the level, because they are made of values of other operations.
  func reportSources(of path: OperationPath) {
    OperationWarning(
      code: .levelFailed,
      severity: .failure,
      message: """
        The values of the operation at \(ShownText.of(path)) with the name "\(self.name)" are not put into the level \
        \(self.level.name), because they are made of those of other operations, and no other process could know when these \
        change. Keep the values that it reads.
        """
    ).report()
  }

  func section(at place: LevelPlace?, isKept: Bool) -> StoreInspection.Section? {
    let facts = ["\(self.name), version \(self.version)", isKept ? "kept, or about to be" : "nothing is kept"]
    return StoreInspection.Section(title: "Level \(self.level.name)", facts: facts)
  }
}

// MARK: - Runs

extension LevelSettings {
  func run(at path: OperationPath, in context: OperationContext) -> LevelRun<Value> {
    LevelRun(of: self.key(at: path), in: self.level, context) { [encodeValue] value in
      try [1] + encodeValue(value)
    } decode: { found in
      try self.decode(found, in: context).restoration.value
    }
  }

  /// What a run asks of a value: to be newer than what the store shows if that was set, or is to be renewed.
  func demand(in context: OperationContext) -> ValueDemand {
    var demand = context.runDemand
    guard let store = context.runningOperationStore, let date = store.stateWithoutLayers.valueLastUpdatedAt else {
      return demand
    }
    if context.renewsValue || store.valueStamp.kind == .set { demand.atLeast = date.next }
    return demand
  }

  /// The tags of a value that a run is about to return.
  func tags(of value: Value, in context: OperationContext) -> [OperationPath] {
    guard let tagging = context.valueTagging,
      var state = context.runningOperationStore?.stateWithoutLayers as? State
    else { return [] }
    state.replaceValue(with: StoredValue(value: value, valueUpdateCount: 1, valueLastUpdatedAt: context.date))
    return tagging.tags(of: state)
  }
}

/// Why the value of a level is not used.
private enum LevelRefusal: Error, CustomStringConvertible {
  case version(Int, expected: Int)
  case age(seconds: Double, maximum: Duration)

  var description: String {
    switch self {
    case .version(let version, let expected):
      "it has the version \(version), and the operation asks for \(expected)"
    case .age(let seconds, let maximum): "it is \(seconds) seconds old, and may be \(maximum) old at most"
    }
  }
}

extension OperationWarning.Code {
  /// A level has failed, or has a value that cannot be used.
  public static let levelFailed = Self(description: "levelFailed")
}
