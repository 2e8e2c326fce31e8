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
  /// Those that come before the others: a lease would end while they wait.
  private var urgent = SerialQueue<AwaitedOutcome<Bool>>()

  /// How many have a turn or wait for one.
  var count: Int { self.active + self.waiting.count + self.urgent.count }

  /// Takes a turn.
  ///
  /// - Parameter isUrgent: Whether it comes before those that are not.
  /// - Returns: Nil if there is one, otherwise what tells when.
  mutating func take(isUrgent: Bool) -> AwaitedOutcome<Bool>? {
    if self.active < Self.maximum {
      self.active += 1
      return nil
    }
    let wait = AwaitedOutcome<Bool>()
    if isUrgent { self.urgent.append(wait) } else { self.waiting.append(wait) }
    return wait
  }

  /// Ends a turn. Returns who has it now.
  mutating func end() -> AwaitedOutcome<Bool>? {
    let next = self.urgent.popFirst() ?? self.waiting.popFirst()
    if next == nil { self.active -= 1 }
    return next
  }

  /// Ends all waits, whose outcomes the caller decides.
  mutating func removeAll() -> [AwaitedOutcome<Bool>] {
    var waits: [AwaitedOutcome<Bool>] = []
    while let wait = self.urgent.popFirst() ?? self.waiting.popFirst() { waits.append(wait) }
    return waits
  }
}

/// The requests of runs for a value or a lease: while some are under way, the next ones gather, and are sent with one call.
struct FleetRequests: Sendable {
  /// The answer to one of them.
  struct Answer: Sendable {
    /// The answer of the backend; nil if it was not asked.
    var result: Result<FleetLeaseAnswer, any Error>?
    /// How long the request has waited here.
    var waited = Duration.zero
  }

  struct Entry: Sendable {
    let request: FleetLeaseRequest
    /// When it was added.
    let start: Duration
    /// How long the backend may take.
    let limit: Duration
    let outcome = AwaitedOutcome<Answer>()
  }

  /// So many that a few slow answers delay no other request.
  private static let maximumCalls = 8
  private static let maximumKeys = 100
  /// About what one answer may hold.
  private static let maximumBytes = 4_000_000

  private var waiting: [Entry] = []
  private var calls = 0
  /// The mean size of the answers of the last call.
  private var bytesPerKey = 0

  mutating func add(_ entry: Entry) { self.waiting.append(entry) }

  mutating func remove(_ entry: Entry) { self.waiting.removeAll { $0.outcome === entry.outcome } }

  /// The requests of the next call; nil if there are none, or enough calls are under way.
  mutating func begin() -> [Entry]? {
    guard self.calls < Self.maximumCalls, !self.waiting.isEmpty else { return nil }
    let count = max(1, min(Self.maximumKeys, Self.maximumBytes / max(self.bytesPerKey, 1)))
    let batch = Array(self.waiting.prefix(count))
    self.waiting.removeFirst(batch.count)
    self.calls += 1
    return batch
  }

  /// Ends a call.
  ///
  /// - Parameter bytesPerKey: The mean size of its answers; nil if there were none.
  mutating func end(bytesPerKey: Int?) {
    self.calls -= 1
    if let bytesPerKey { self.bytesPerKey = bytesPerKey }
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
  ///   - isUrgent: Whether its turn comes before those of other calls.
  ///   - body: The call.
  /// - Returns: The answer, nil if the backend has gone away before the turn; and how long the call has waited for it.
  nonisolated(nonsending) func callInTurn<Answer: Sendable>(
    within limit: Duration,
    isUrgent: Bool = false,
    _ body: @escaping @Sendable (any FleetBackend) async throws -> Answer
  ) async -> (result: Result<Answer, any Error>?, waited: Duration) {
    let start = self.deadlines.elapsed
    let wait = self.state.withLock { $0.turns.take(isUrgent: isUrgent) }
    if let wait, await !wait.value() { return (nil, .zero) }
    let waited = self.deadlines.elapsed - start
    let result = await self.call(within: limit, body)
    // Before the next one has its turn: no call asks a backend that has just been away.
    if case .failure(let error) = result { self.noteFailureOfOneKey(error) }
    self.state.withLock { $0.turns.end() }?.decide(true)
    return (result, waited)
  }

  /// Asks for the value or the lease of a key, together with what other runs ask for meanwhile.
  ///
  /// A caller that is cancelled leaves no lease behind, for whose end others would wait.
  nonisolated(nonsending) func ask(_ request: FleetLeaseRequest, within limit: Duration) async -> FleetRequests.Answer {
    let entry = FleetRequests.Entry(request: request, start: self.deadlines.elapsed, limit: limit)
    self.state.withLock { $0.requests.add(entry) }
    self.sendRequests()
    let answer = await entry.outcome.value(cancelled: FleetRequests.Answer(result: .failure(CancellationError())))
    if case .failure(is CancellationError) = answer.result { self.state.withLock { $0.requests.remove(entry) } }
    return answer
  }

  private func sendRequests() {
    while let batch = self.state.withLock({ $0.requests.begin() }) {
      self.start("ask for values and leases") { await self.send(batch) }
    }
  }

  private func send(_ batch: [FleetRequests.Entry]) async {
    let now = self.deadlines.elapsed
    let end = now + (batch.map(\.limit).min() ?? self.settings.lookupTimeout)
    let size = await self.send(batch[...], at: now, until: end)
    self.state.withLock { $0.requests.end(bytesPerKey: size.map { $0 / batch.count }) }
    self.sendRequests()
  }

  /// Sends requests with one call. If the backend refuses it, a key may be the reason: then it sends the halves.
  ///
  /// - Returns: The size of the answers; nil if there was none.
  private func send(
    _ batch: ArraySlice<FleetRequests.Entry>,
    at start: Duration,
    until end: Duration
  ) async -> Int? {
    let requests = batch.map(\.request)
    let now = self.deadlines.elapsed
    let limit = max(end - now, .zero)
    let answer = await self.call(within: limit) { backend in
      let answers = try await backend.acquireLeases(requests)
      guard answers.count == requests.count else { throw FleetError.wrongCount(answers.count, of: requests.count) }
      return answers
    }
    switch answer {
    case .success(let answers):
      if let epoch = answers.compactMap(\.epoch).max() { self.note(epoch, askedAt: now) }
      for (entry, answer) in zip(batch, answers) { await self.decide(entry, .success(answer), sentAt: start) }
      return answers.reduce(0) { $0 + $1.size }
    case .failure(let error):
      // Before the next requests: no run asks a backend that has just been away.
      self.noteFailureOfOneKey(error)
      if batch.count > 1, (error as? FleetError)?.code == .failed, !self.isAlone, self.deadlines.elapsed < end {
        let middle = batch.startIndex + batch.count / 2
        let first = await self.send(batch[..<middle], at: start, until: end)
        let second = await self.send(batch[middle...], at: start, until: end)
        return first.map { $0 + (second ?? 0) } ?? second
      }
      for entry in batch { await self.decide(entry, .failure(error), sentAt: start) }
      return nil
    }
  }

  private func decide(
    _ entry: FleetRequests.Entry,
    _ result: Result<FleetLeaseAnswer, any Error>,
    sentAt: Duration
  ) async {
    entry.outcome.decide(FleetRequests.Answer(result: result, waited: sentAt - entry.start))
    guard case .success(.granted(let lease, _)) = result else { return }
    // The first outcome counts: this one says that the caller has left before.
    guard case .failure(is CancellationError) = await entry.outcome.value().result else { return }
    self.startEnding("give a lease back") { await self.giveBackOrOwe(lease) }
  }

  /// Lets the calls go that have not been made: their runs go on alone, and readers get what the stores have.
  func endCalls() {
    let (turns, requests, readers) = self.state.withLock { state in
      (state.turns.removeAll(), state.requests.removeAll(), state.confirmations.removeAll())
    }
    for turn in turns { turn.decide(false) }
    for reader in readers { reader.decide() }
    for request in requests { request.decide(FleetRequests.Answer()) }
  }
}

extension FleetLeaseAnswer {
  /// The epoch of its moment; nil if another owner holds the lease.
  fileprivate var epoch: FleetEpoch? {
    switch self {
    case .granted(_, let epoch), .fresh(_, let epoch): epoch
    case .heldByAnother: nil
    }
  }

  /// The number of bytes of its value.
  fileprivate var size: Int {
    if case .fresh(let value, _) = self { value.bytes.count } else { 0 }
  }
}
