public import OperationCore
internal import OperationFoundation
public import Testing

/// Checks that a level follows the rules that stores rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkValueLevel(reopening: { DiskCache(directory: $0.directory) }, { DiskCache(directory: newDirectory()) })
/// }
/// ```
///
/// ``ValueLevelRule`` lists the rules: values come back under their keys (`values`), with what is known of them (`stamps`,
/// `dates`), if they meet the demand (`demands`), and the last put counts (`replacement`); a put only notes (`unlocked`).
/// Invalidations are heeded (`invalidation`), what may not leave its store is refused (`refusal`), and what was removed is
/// gone (`removal`), also for a level that is opened again (`reopening`). A cancelled look-up leaves nothing (`rights`), and
/// several tasks may use the level (`concurrency`).
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the level breaks on purpose.
///   - limit: The longest time for the check of a rule; nil for a minute, unless `.waitLimit(_:)` is set.
///   - sourceLocation: Where issues are reported.
///   - reopen: Makes a level over what another one has left, as a later process does; with nil, the rule
///     ``ValueLevelRule/reopening`` is not checked.
///   - make: Makes a level without values. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of the closures.
public func checkValueLevel<Level: ValueLevel>(
  _ rules: some Sequence<ValueLevelRule> = ValueLevelRule.allCases,
  except exceptions: Set<ValueLevelRule> = [],
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  reopening reopen: (@Sendable (Level) async throws -> Level)? = nil,
  _ make: () async throws -> Level
) async throws {
  for rule in rules where !exceptions.contains(rule) {
    let level = try await make()
    let report = RuleReport("level", rule: rule, within: limit, orWithin: .seconds(60), at: sourceLocation)
    let check = LevelCheck(level: level, reopen: reopen, report: report)
    try await report.perform {
      let result = try await outcome(of: "the level to answer", within: report.limit) { try await check.perform(rule) }
      switch result {
      case .success: break
      case .failure(let error as CancellationError): throw error
      case .failure(let error): report.expect(false, "it threw \(error). Throw only what keeps it from working.")
      }
    }
  }
}

private struct LevelCheck<Level: ValueLevel>: Sendable {
  let level: Level
  let reopen: (@Sendable (Level) async throws -> Level)?
  let report: RuleReport
  /// Tells the level of invalidations.
  let client = OperationClient()
  private let now = Date(timeIntervalSinceReferenceDate: 1_000)

  func perform(_ rule: ValueLevelRule) async throws {
    self.client.add(self.level)
    switch rule {
    case .values: try await self.checkValues()
    case .stamps: try await self.checkStamps()
    case .dates: try await self.checkDates()
    case .demands: try await self.checkDemands()
    case .replacement: try await self.checkReplacement()
    case .unlocked: self.checkPuts()
    case .invalidation: try await self.checkInvalidation()
    case .refusal: try await self.checkRefusal()
    case .removal: try await self.checkRemoval()
    case .rights: try await self.checkRights()
    case .reopening: try await self.checkReopening()
    case .concurrency: try await self.checkConcurrency()
    }
  }
}

// MARK: - Calls

extension LevelCheck {
  private func key(_ path: OperationPath, name: String = "value") -> LevelKey { LevelKey(path: path, name: name) }

  private var key: LevelKey { self.key(["checkValueLevel", 1]) }

  private func value(
    _ byte: UInt8,
    _ stamp: ValueStamp = ValueStamp(.final),
    seen: InvalidationEpoch = .latest,
    tags: [OperationPath] = []
  ) -> LevelValue {
    LevelValue(stamp: stamp, date: self.now, seen: seen, tags: tags) { [byte, byte] }
  }

  private func put(_ value: LevelValue, _ key: LevelKey? = nil) {
    self.level.put(value, for: key ?? self.key, under: nil)
  }

  private var any: ValueDemand { ValueDemand(at: self.now) }

  private var fresh: ValueDemand {
    var demand = self.any
    demand.mustBeFresh = true
    return demand
  }

  private func value(
    at key: LevelKey? = nil,
    _ demand: ValueDemand? = nil,
    in level: Level? = nil
  ) async throws -> LevelValue? {
    let (level, key, demand) = (level ?? self.level, key ?? self.key, demand ?? self.any)
    switch level.valueAtHand(for: key, demand) {
    case .value(let value): return value
    case .none: return nil
    case .unknown: break
    }
    switch try await level.lookUp(key, demand) {
    case .value(let value): return value
    case .none(let right):
      if let right { level.giveUp(right) }
      return nil
    }
  }

  private func bytes(
    at key: LevelKey? = nil,
    _ demand: ValueDemand? = nil,
    in level: Level? = nil
  ) async throws -> [UInt8]? {
    try await self.value(at: key, demand, in: level)?.bytes()
  }

  private func expect(
    _ bytes: [UInt8]?,
    at key: LevelKey? = nil,
    for demand: ValueDemand? = nil,
    in level: Level? = nil,
    _ moment: String,
    _ remedy: String
  ) async throws {
    let found = try await self.bytes(at: key, demand, in: level)
    self.report.expect(
      found == bytes,
      "\(moment) it returned \(found.map { "\($0)" } ?? "nothing"), not \(bytes.map { "\($0)" } ?? "nothing"). \(remedy)"
    )
  }
}

// MARK: - Values

extension LevelCheck {
  private func checkValues() async throws {
    let others = [
      self.key(["checkValueLevel"]), self.key(["checkValueLevel", "1"]), self.key(["checkValueLevel", 1, "a"]),
      self.key(["checkValueLevel", 1], name: "other"), self.key(["checkValueLevel", "a/b"]),
      self.key(["checkValueLevel", "a", "b"]),
    ]
    try await self.expect(nil, "before a put", "Return nothing for a key without a value.")
    self.put(self.value(1))
    for (index, key) in others.enumerated() { self.put(self.value(UInt8(index + 2)), key) }
    for moment in ["after the puts", "after a flush"] {
      try await self.expect([1, 1], moment, "Return what was put, whether it is written or not.")
      for (index, key) in others.enumerated() {
        let byte = UInt8(index + 2)
        let remedy = "Values belong to a path with its elements and their types, and to a name."
        let place = "at \(ShownText.of(key.path)) with the name \(key.name)"
        try await self.expect([byte, byte], at: key, "\(moment), \(place),", remedy)
      }
      try await self.level.flush()
    }
  }

  private func checkStamps() async throws {
    var lasting = ValueStamp(.final)
    lasting.freshness = .seconds(60)
    let tags: [OperationPath] = [["posts"], ["post", 1], ["author", "Ann Lee"]]
    for stamp in [ValueStamp(.final), ValueStamp(.set), ValueStamp(.partial), lasting] {
      self.put(self.value(1, stamp, tags: stamp.kind == .partial ? [] : tags))
      for moment in ["after a put", "after a flush"] {
        let found = try await self.value()
        self.report.expect(
          found.map { $0.stamp == stamp || ($0.stamp.kind == .final && stamp.kind == .set) } ?? false,
          "\(moment) of a value of the kind \(stamp.kind) its stamp was \(found.map { "\($0.stamp)" } ?? "gone"). Keep the stamp."
        )
        self.report.expect(
          stamp.kind == .partial || found.map { Set($0.tags) } == Set(tags),
          "\(moment) the tags of the value were \(found.map { "\($0.tags)" } ?? "gone"), not \(tags). Keep the tags."
        )
        try await self.level.flush()
      }
    }
  }

  private func checkDates() async throws {
    self.put(self.value(1))
    let date = try await self.value()?.date
    self.report.expect(date == self.now, "the date of a value was \(date.map { "\($0)" } ?? "unknown"). Keep the date.")
    var demand = self.any
    demand.notOlderThan = self.now
    try await self.expect([1, 1], for: demand, "for a value that is not older than it is", "Compare the dates.")
  }

  private func checkDemands() async throws {
    self.put(self.value(1, ValueStamp(.partial)))
    try await self.expect(nil, for: self.fresh, "for a fresh value, of a partial one", "Ask `demand.isMet(by:)`.")
    self.put(self.value(2))
    try await self.expect([2, 2], for: self.fresh, "for a fresh value", "Ask `demand.isMet(by:)`.")
    var demand = self.any
    demand.notOlderThan = self.now.addingTimeInterval(1)
    try await self.expect(nil, for: demand, "for a younger value", "Ask `demand.isMet(by:)`.")
    demand = self.any
    demand.newerThan = .max
    try await self.expect(nil, for: demand, "for a newer value", "Ask `demand.isMet(by:)`.")
    demand = self.any
    demand.seen = InvalidationEpoch(rawValue: .max)
    try await self.expect(nil, for: demand, "for a value that has seen what is yet to come", "Ask `demand.isMet(by:)`.")
  }

  private func checkReplacement() async throws {
    for byte in 1...50 as ClosedRange<UInt8> { self.put(self.value(byte)) }
    try await self.expect([50, 50], "after fifty puts", "Keep the value that was put last.")
    try await self.level.flush()
    try await self.expect([50, 50], "after a flush", "Write values of a key one after the other.")
    self.put(LevelValue(stamp: ValueStamp(.none)))
    try await self.expect(nil, "after a put of no value", "Remove the value for the kind `none`.")
    try await self.level.flush()
    try await self.expect(nil, "after a flush", "Remove the value for the kind `none`.")
    self.put(self.value(51))
    try await self.expect([51, 51], "after another put", "A value may be put again.")
  }

  private func checkPuts() {
    let isCalled = AtomicFlag(false)
    let value = LevelValue(
      stamp: ValueStamp(.final),
      date: self.now,
      tags: {
        _ = isCalled.set(true)
        return []
      }()
    ) {
      _ = isCalled.set(true)
      return [1]
    }
    let wasCalled = value.inTurn { value in
      self.put(value)
      return isCalled.isOn
    }
    self.report.expect(
      !wasCalled,
      "`put` called `bytes` or `tags`, which may call code of users. Note the value, and call them in `value.afterwards { }` or in a task."
    )
  }
}

// MARK: - Invalidations and removals

extension LevelCheck {
  private func checkInvalidation() async throws {
    let remedy = "Ask `invalidation.concerns(value, for: key)` for the values that are there, and for later ones."
    let key = self.key(["checkValueLevel", "posts", 1])
    let before = InvalidationEpoch.latest
    self.put(self.value(1, seen: before, tags: [["tag", 7]]), key)
    try await self.level.flush()
    self.client.invalidate(matching: ["checkValueLevel", "posts"])
    try await self.expect(nil, at: key, for: self.fresh, "after an invalidation of its path", remedy)
    self.put(self.value(2, seen: before), key)
    try await self.expect(nil, at: key, for: self.fresh, "for a value that had not seen the invalidation", remedy)
    self.put(self.value(3, tags: [["tag", 7]]), key)
    try await self.expect([3, 3], at: key, for: self.fresh, "for a value that had seen the invalidation", remedy)
    self.client.noteInvalidation(of: [.tag(["tag", 7])])
    try await self.expect(nil, at: key, for: self.fresh, "after an invalidation of its tag", remedy)
    self.put(self.value(4, tags: [["tag", 7]]), key)
    self.client.invalidate(matching: ["checkValueLevel", "posts", 2])
    self.client.noteInvalidation(of: [.tag(["tag", 8])])
    try await self.expect([4, 4], at: key, for: self.fresh, "after an invalidation of others", remedy)
    self.client.invalidate()
    try await self.expect(nil, at: key, for: self.fresh, "after an invalidation of everything", remedy)
  }

  private func checkRefusal() async throws {
    self.put(self.value(1))
    var forbidden = ValueStamp(.final)
    forbidden.staysInStore = true
    for stamp in [ValueStamp(.final, isUnconfirmed: true), ValueStamp(.fallback), forbidden] {
      self.put(self.value(2, stamp))
      try await self.expect([1, 1], "after a put of \(stamp)", "Refuse what `stamp.mayLeaveStore` forbids.")
      try await self.level.flush()
    }
  }

  private func checkRemoval() async throws {
    let remedy = "Remove what waits to be written, too, and end what is being written."
    let other = self.key(["checkValueLevel", 2])
    for isFlushed in [true, false] {
      self.put(self.value(1))
      self.put(self.value(2), other)
      if isFlushed { try await self.level.flush() }
      try await self.level.remove(.path(["checkValueLevel", 1]), era: self.client.era)
      try await self.expect(nil, "after a removal of its path", remedy)
      // A level that cannot remove some values alone removes more.
      try await self.level.flush()
      try await self.expect(nil, "after a removal and a flush", remedy)
      self.put(self.value(2), other)
      try await self.expect([2, 2], at: other, "for another path", "Values may be put after a removal.")
      if isFlushed { try await self.level.flush() }
      try await self.level.remove(.everything, era: self.client.era)
      try await self.expect(nil, at: other, "after a removal of everything", remedy)
      try await self.level.flush()
      try await self.expect(nil, at: other, "after a removal of everything and a flush", remedy)
    }
    self.put(self.value(3))
    try await self.expect([3, 3], "after a put that followed a removal", "Values may be put after a removal.")
  }

  private func checkRights() async throws {
    guard case .none(let right?) = try await self.level.lookUp(self.key, self.any) else { return }
    let other = Task { try await self.level.lookUp(self.key, self.any) }
    other.cancel()
    if case .success(.none(let second?)) = await other.result {
      self.report.expect(second === right, "a look-up that was cancelled got a right. Throw `CancellationError`.")
    }
    self.level.giveUp(right)
    guard case .none(let next?) = try await self.level.lookUp(self.key, self.any) else {
      return self.report.expect(false, "after a right was given up, no look-up got one. Give it to the next one.")
    }
    self.level.put(self.value(1), for: self.key, under: next)
    await next.ended()
    try await self.expect([1, 1], "after a put under a right", "End the right when the value can be found.")
  }

  private func checkReopening() async throws {
    guard let reopen else { return }
    let (removed, stale) = (self.key(["checkValueLevel", 2]), self.key(["checkValueLevel", 3]))
    self.put(self.value(1))
    for key in [removed, stale] { self.put(self.value(2), key) }
    try await self.level.flush()
    try await self.level.remove(.path(removed.path), era: self.client.era)
    self.client.invalidate(matching: stale.path)
    try await self.level.flush()
    let level = try await reopen(self.level)
    try await self.expect(
      [1, 1],
      in: level,
      "after it was opened again",
      "Write what was put before `flush()` returns."
    )
    try await self.expect(nil, at: removed, in: level, "for a removed value", "Remove values from the disk, too.")
    try await self.expect(
      nil,
      at: stale,
      for: self.fresh,
      in: level,
      "for a value that was invalidated before",
      "Remove it in `invalidate(_:)`, or note with the value that it is stale."
    )
  }

  private func checkConcurrency() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let key = self.key(["checkValueLevel", "task", number])
          for round in 1...50 as ClosedRange<UInt8> {
            self.put(self.value(round), key)
            try await self.expect([round, round], at: key, "beside other tasks", "Guard what tasks share by one lock.")
            if round % 10 == 0 { try await self.level.flush() }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
