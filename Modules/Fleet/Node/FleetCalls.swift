internal import OperationCore

/// The calls that runs make for one key, so many at a time. The others wait here, in their order.
///
/// A backend that is asked for thousands of keys at once would answer the last ones late, as one that is away does. What
/// waits here has not been asked yet, and says nothing about the backend.
struct FleetTurns: Sendable {
  /// More than a backend works on at once, so that it does not wait for the node.
  static let maximum = 16

  private var active = 0
  private var waiting = SerialQueue<AwaitedOutcome<Bool>>()

  /// Takes a turn. Returns nil if there is one, otherwise what tells when.
  mutating func take() -> AwaitedOutcome<Bool>? {
    if self.active < Self.maximum {
      self.active += 1
      return nil
    }
    let wait = AwaitedOutcome<Bool>()
    self.waiting.append(wait)
    return wait
  }

  /// Ends a turn. Returns who has it now.
  mutating func end() -> AwaitedOutcome<Bool>? {
    let next = self.waiting.popFirst()
    if next == nil { self.active -= 1 }
    return next
  }

  /// Ends all waits, whose outcomes the caller decides.
  mutating func removeAll() -> [AwaitedOutcome<Bool>] {
    var waits: [AwaitedOutcome<Bool>] = []
    while let wait = self.waiting.popFirst() { waits.append(wait) }
    return waits
  }
}

/// The look-ups of runs: while some are under way, the next ones gather, and are asked for with one call.
struct FleetLookups: Sendable {
  /// The answer to one of them.
  struct Answer: Sendable {
    /// The value; nil if the backend was not asked.
    var result: Result<FleetValue?, any Error>?
    /// How long it has waited here.
    var waited = Duration.zero
  }

  struct Entry: Sendable {
    let key: FleetKey
    /// When it was added.
    let start: Duration
    /// How long the backend may take.
    let limit: Duration
    let outcome = AwaitedOutcome<Answer>()
  }

  /// So many that a few slow answers delay no other look-up.
  private static let maximumCalls = 8
  private static let maximumKeys = 100
  /// About what one answer may hold.
  private static let maximumBytes = 4_000_000

  private var waiting: [Entry] = []
  private var calls = 0
  /// The mean size of the values of the last call.
  private var bytesPerKey = 0

  mutating func add(_ entry: Entry) { self.waiting.append(entry) }

  mutating func remove(_ entry: Entry) { self.waiting.removeAll { $0.outcome === entry.outcome } }

  /// The look-ups of the next call; nil if there are none, or enough calls are under way.
  mutating func begin() -> [Entry]? {
    guard self.calls < Self.maximumCalls, !self.waiting.isEmpty else { return nil }
    let count = max(1, min(Self.maximumKeys, Self.maximumBytes / max(self.bytesPerKey, 1)))
    let batch = Array(self.waiting.prefix(count))
    self.waiting.removeFirst(batch.count)
    self.calls += 1
    return batch
  }

  /// Ends a call.
  mutating func end(_ values: [FleetValue?]?) {
    self.calls -= 1
    guard let values, !values.isEmpty else { return }
    self.bytesPerKey = values.reduce(0) { $0 + ($1?.bytes.count ?? 0) } / values.count
  }

  /// Ends all waits, whose outcomes the caller decides.
  mutating func removeAll() -> [AwaitedOutcome<Answer>] {
    defer { self.waiting = [] }
    return self.waiting.map(\.outcome)
  }
}

extension FleetNode {
  /// Calls the backend for one key, when it is the turn of the call.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait for the answer.
  ///   - body: The call.
  /// - Returns: The answer, nil if the backend has gone away before the turn; and how long the call has waited for it.
  nonisolated(nonsending) func callInTurn<Answer: Sendable>(
    within limit: Duration,
    _ body: @escaping @Sendable (any FleetBackend) async throws -> Answer
  ) async -> (result: Result<Answer, any Error>?, waited: Duration) {
    let start = self.deadlines.elapsed
    let wait = self.state.withLock { $0.turns.take() }
    if let wait, await !wait.value() { return (nil, .zero) }
    let waited = self.deadlines.elapsed - start
    let result = await self.call(within: limit, body)
    // Before the next one has its turn: nobody asks a backend that has just been away.
    if case .failure(let error) = result { self.noteFailureOfOneKey(error) }
    self.state.withLock { $0.turns.end() }?.decide(true)
    return (result, waited)
  }

  /// Looks up the value of a key, together with those that other runs look up meanwhile.
  nonisolated(nonsending) func lookUp(_ key: FleetKey, within limit: Duration) async -> FleetLookups.Answer {
    let entry = FleetLookups.Entry(key: key, start: self.deadlines.elapsed, limit: limit)
    self.state.withLock { $0.lookups.add(entry) }
    self.sendLookups()
    let answer = await entry.outcome.value(cancelled: FleetLookups.Answer(result: .failure(CancellationError())))
    if case .failure(is CancellationError) = answer.result { self.state.withLock { $0.lookups.remove(entry) } }
    return answer
  }

  private func sendLookups() {
    while let batch = self.state.withLock({ $0.lookups.begin() }) {
      self.start("look up values") { await self.send(batch) }
    }
  }

  private func send(_ batch: [FleetLookups.Entry]) async {
    let now = self.deadlines.elapsed
    let limit = batch.map(\.limit).min() ?? self.settings.lookupTimeout
    let keys = batch.map(\.key)
    let answer = await self.call(within: limit) { try await $0.lookUp(keys) }
    switch answer {
    case .success(let lookup):
      self.state.withLock { $0.lookups.end(lookup.values) }
      self.note(lookup.epoch)
    case .failure(let error):
      self.state.withLock { $0.lookups.end(nil) }
      // Before the next look-ups, as above.
      self.noteFailureOfOneKey(error)
    }
    for (index, entry) in batch.enumerated() {
      let result = answer.map { $0.values.indices.contains(index) ? $0.values[index] : nil }
      entry.outcome.decide(FleetLookups.Answer(result: result, waited: now - entry.start))
    }
    self.sendLookups()
  }

  /// Lets the calls go that have not been made: their runs go on alone.
  func endCalls() {
    let (turns, lookups) = self.state.withLock { ($0.turns.removeAll(), $0.lookups.removeAll()) }
    for turn in turns { turn.decide(false) }
    for lookup in lookups { lookup.decide(FleetLookups.Answer()) }
  }
}
