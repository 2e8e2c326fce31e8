package import OperationFoundation

/// One run of an operation whose level is asked in runs: what it gets from the level, and what it puts.
package struct LevelRun<Value: Sendable>: Sendable {
  /// How a run goes on.
  package enum Beginning: Sendable {
    /// The level has a value, which now has its own date and stamp in the outcome of the run.
    case value(Value, LevelValue)
    /// The operation runs here, under the right if there is one.
    case run(LevelRight?)
    /// The caller was cancelled while the level was asked.
    case cancelled
  }

  private let level: any ValueLevel
  private let key: LevelKey
  private let context: OperationContext
  private let encode: @Sendable (Value) throws -> [UInt8]
  private let decode: @Sendable (LevelValue) throws -> Value?

  /// - Parameters:
  ///   - key: The key of the value.
  ///   - level: The level.
  ///   - context: The context of the run.
  ///   - encode: Encodes a value.
  ///   - decode: Decodes it; nil, or an error that is reported, for one that is not used.
  package init(
    of key: LevelKey,
    in level: any ValueLevel,
    _ context: OperationContext,
    encode: @escaping @Sendable (Value) throws -> [UInt8],
    decode: @escaping @Sendable (LevelValue) throws -> Value?
  ) {
    self.level = level
    self.key = key
    self.context = context
    self.encode = encode
    self.decode = decode
  }

  /// Asks the level for a value, or for the right to make one.
  ///
  /// - Parameters:
  ///   - demand: What is asked of the value.
  ///   - accepts: Whether a value will do that meets the demand. Otherwise a newer one is asked for.
  ///   - report: Receives the error of the level, and the error of each value that cannot be decoded.
  /// - Returns: How the run goes on.
  package nonisolated(nonsending) func begin(
    _ demand: ValueDemand,
    accepting accepts: (LevelValue) -> Bool = { _ in true },
    reporting report: (any Error) -> Void
  ) async -> Beginning {
    var demand = demand
    while true {
      let found: LevelValue
      do {
        switch try await self.level.lookUp(self.key, demand) {
        case .value(let value): found = value
        case .none(let right): return .run(right)
        }
      } catch {
        if error is CancellationError { return .cancelled }
        report(error)
        return .run(nil)
      }
      if accepts(found), let value = self.decoded(found, reporting: report) {
        if let date = found.date { self.context.dateOutcome(date) }
        self.context.outcomeStamp = found.stamp
        return .value(value, found)
      }
      // It is not asked for again.
      guard let revision = found.revision, revision > demand.newerThan ?? .min else { return .run(nil) }
      demand.newerThan = revision
    }
  }

  /// Decodes a value; nil if it is invalidated, or, with a report, if it cannot be used.
  private func decoded(_ found: LevelValue, reporting report: (any Error) -> Void) -> Value? {
    if self.level.order == nil, let log = self.context.storeHost?.invalidations,
      log.concerns(path: self.key.path, tags: found.tags, since: found.seen)
    {
      return nil
    }
    do {
      return try self.decode(found)
    } catch {
      report(error)
      return nil
    }
  }

  /// Puts the value of the run, and waits until the level has ended the right. What may not leave the store is not put, nor
  /// what was made of other values.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - right: The right under which the operation has run.
  ///   - maximumAge: How old the value may become.
  ///   - tags: The tags of the value, each as a path.
  package nonisolated(nonsending) func end(
    with value: Value,
    under right: LevelRight?,
    maximumAge: Duration?,
    tags: () -> [OperationPath]
  ) async {
    let stamp = self.context.outcomeStamp
    guard stamp.mayLeaveStore, !self.context.outcomeHasSources else { return self.giveUp(right) }
    let tags = tags()
    var put = LevelValue(stamp: stamp, date: self.context.date, seen: self.context.epochOfRun, tags: tags) { [encode] in
      try encode(value)
    }
    put.maximumAge = maximumAge
    put.context = self.context
    self.level.put(put, for: self.key, under: right)
    if let right { await right.ended() }
  }

  /// Ends the right without a value.
  package func giveUp(_ right: LevelRight?) {
    if let right { self.level.giveUp(right) }
  }
}

extension OperationContext {
  /// The last invalidation that the run had seen when it began.
  fileprivate var epochOfRun: InvalidationEpoch {
    guard let id = self.run.taskIdentifier, let runtime = self.run.store?.runtime else { return .zero }
    return runtime.withMachine { machine in machine.index(ofRun: id).map { machine.runs[$0].epoch } } ?? .zero
  }

  /// What a run asks of a value from elsewhere: to be as young as its caller and the rules of its store want it.
  package var runDemand: ValueDemand {
    let now = self.date
    var demand = ValueDemand(at: now)
    demand.mustBeFresh = true
    // A value of this age is too old already.
    if let maximum = self.maximumValueAge ?? self.operationStaleAfter, maximum > .zero {
      demand.notOlderThan = now.addingTimeInterval(-maximum.seconds).next
    }
    return demand
  }

  /// Whether the run is to find a newer value than the one that the store has.
  package var renewsValue: Bool {
    self.operationRunCause.map { $0.kind == .earlyRefresh || $0.kind == .polling } ?? false
  }
}

extension Date {
  /// The next later date.
  package var next: Date { Date(timeIntervalSinceReferenceDate: self.timeIntervalSinceReferenceDate.nextUp) }
}
