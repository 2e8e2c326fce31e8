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
  /// level of the reach ``ValueReach/fleet`` is asked in each run instead, for a value that is not invalidated. The rules of the operation and the invalidations
  /// of the client decide whether the value is fresh. Each change is put into the level. Neither optimistic updates nor
  /// fallbacks are.
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
    if self.settings.level.reach == .fleet { context.addEntriesToOutcomes() } else { context.keep(with: self.settings) }
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard self.settings.level.reach == .fleet else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    let (settings, key) = (self.settings, self.settings.key(at: operation.path))
    let (found, right) = await settings.lookUp(key, in: context)
    if let found { return found }
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: context, with: continuation)
      await settings.put(value, for: key, under: right, in: context)
      return value
    } catch {
      if let right { settings.level.giveUp(right) }
      throw error
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
    controls.context.operationClient?.add(self.level)
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

  func section(at place: LevelPlace?, isKept: Bool) -> StoreInspection.Section? {
    let facts = ["\(self.name), version \(self.version)", isKept ? "kept, or about to be" : "nothing is kept"]
    return StoreInspection.Section(title: "Level \(self.level.name)", facts: facts)
  }
}

// MARK: - Runs

extension LevelSettings {
  /// Asks the level in a run: for a value that meets its demand, or for the right to make one.
  nonisolated(nonsending) func lookUp(_ key: LevelKey, in context: OperationContext) async -> (Value?, LevelRight?) {
    context.operationClient?.add(self.level)
    var demand = context.runDemand
    demand.mustBeFresh = true
    while true {
      do {
        let found: LevelValue
        switch try await self.level.lookUp(key, demand) {
        case .value(let value): found = value
        case .none(let right): return (nil, right)
        }
        guard let value = self.decoded(found, for: key, in: context) else {
          // It is not asked for again.
          guard let revision = found.revision, revision > demand.newerThan ?? .min else { return (nil, nil) }
          demand.newerThan = revision
          continue
        }
        if let date = found.date { context.dateOutcome(date) }
        context.outcomeStamp = found.stamp
        return (value, nil)
      } catch {
        if !(error is CancellationError) { _ = self.report(error, at: LevelPlace(self.level, keys: [key])) }
        return (nil, nil)
      }
    }
  }

  /// Decodes a value for a run; nil if it is invalidated, or, with a report, if it cannot be used.
  private func decoded(_ found: LevelValue, for key: LevelKey, in context: OperationContext) -> Value? {
    if self.level.order == nil, let log = context.operationClient?.invalidations,
      log.concerns(path: key.path, tags: found.tags, since: found.seen)
    {
      return nil
    }
    do {
      return try self.decode(found, in: context).restoration.value
    } catch {
      _ = self.report(error, at: LevelPlace(self.level, keys: [key]))
      return nil
    }
  }

  /// Puts the value of a run, and waits until the level has ended the right.
  nonisolated(nonsending) func put(
    _ value: Value,
    for key: LevelKey,
    under right: LevelRight?,
    in context: OperationContext
  ) async {
    let stamp = context.outcomeStamp
    guard stamp.mayLeaveStore else {
      if let right { self.level.giveUp(right) }
      return
    }
    let now = context.date
    var tags: [OperationPath] = []
    if let tagging = context.valueTagging, var state = context.runningOperationStore?.stateWithoutLayers as? State {
      state.replaceValue(with: StoredValue(value: value, valueUpdateCount: 1, valueLastUpdatedAt: now))
      tags = tagging.tags(of: state)
    }
    let tagsOfValue = tags
    var put = LevelValue(stamp: stamp, date: now, seen: context.epochOfRun, tags: tagsOfValue) { [encodeValue] in
      try [1] + encodeValue(value)
    }
    put.maximumAge = self.maximumAge
    put.context = context
    self.level.put(put, for: key, under: right)
    if let right { await right.ended() }
  }
}

extension OperationContext {
  /// The last invalidation that the run had seen when it began.
  fileprivate var epochOfRun: InvalidationEpoch {
    guard let id = self.run.taskIdentifier, let runtime = self.run.store?.runtime else { return .zero }
    return runtime.withMachine { machine in machine.index(ofRun: id).map { machine.runs[$0].epoch } } ?? .zero
  }

  /// What a run asks of a value from elsewhere: as young as its caller and the rules of its store want it, and newer than
  /// what the store shows if that was set, or is to be renewed.
  package var runDemand: ValueDemand {
    let now = self.date
    var demand = ValueDemand(at: now)
    let maximum = self.maximumValueAge ?? self.operationStaleAfter
    // A value of this age is too old already.
    if let maximum, maximum > .zero { demand.notOlderThan = now.addingTimeInterval(-maximum.seconds).next }
    guard let store = self.runningOperationStore, let date = store.stateWithoutLayers.valueLastUpdatedAt else {
      return demand
    }
    let isRenewal = self.operationRunCause.map { $0.kind == .earlyRefresh || $0.kind == .polling } ?? false
    if isRenewal || store.valueStamp.kind == .set { demand.atLeast = date.next }
    return demand
  }
}

extension Date {
  /// The next later date.
  fileprivate var next: Date { Date(timeIntervalSinceReferenceDate: self.timeIntervalSinceReferenceDate.nextUp) }
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
