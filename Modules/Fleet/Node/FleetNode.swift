internal import OperationCore

/// A client that has joined a fleet: it looks up values, holds leases, and passes invalidations on and on.
public final class FleetNode: Sendable {
  /// Whether a node reaches its backend.
  @nonexhaustive(warn)
  public enum Connection: Hashable, Sendable {
    /// The backend has answered last.
    case connected
    /// The backend has not answered, or has refused writes, for this long. The node goes on alone.
    ///
    /// The cause is the message of the last error of the backend, with its remedy.
    case away(Duration, cause: String)
    /// The node has left the fleet.
    case left
  }

  struct State: Sendable {
    /// The epoch up to which the stores of the client know all invalidations; nil before the first answer.
    var knownEpoch: FleetEpoch?
    /// The runs that wait for that answer.
    var introductions: [AwaitedOutcome<Bool>] = []
    /// The highest epoch that any message or answer has told.
    var seenEpoch = FleetEpoch.zero
    /// Whether a run has begun without the backend since the stores have learned of all invalidations.
    var hasRunAlone = false
    var isCatchingUp = false
    /// When the backend stopped to answer, by the deadlines; nil while it answers.
    var awaySince: Duration?
    /// The last error since then.
    var awayCause: FleetError?
    /// How often it was asked. It counts on if the backend fails again soon after it has answered.
    var probes = 0
    /// When the backend answered again the last time.
    var returnedAt: Duration?
    /// Why no messages arrive, as far as that was told; nil while they do.
    var messagesFailure: FleetError?
    var isClosed = false
    var pending = PendingInvalidations()
    var waits = FleetWaits()
    /// The tasks that store values and give leases back, by their numbers: a program that ends waits for them.
    var endings: [UInt64: Task<Void, Never>] = [:]
    var lastEnding: UInt64 = 0
    var measurements = FleetMeasurements()
    var timers = Timers()
    var lastRun: UInt64 = 0
    var leases = FleetLeases()
    var turns = FleetTurns()
    var requests = FleetRequests()
    var confirmations = FleetConfirmations()
    /// When the backend has acknowledged the last own invalidation.
    var sentAt: Duration?
    /// Whether the backend is being asked after it has refused a call for one key, and when it has last served then.
    var isVerifying = false
    var verifiedAt: Duration?
    /// The stores whose values are pushed, by the texts of their keys.
    var followers: [String: FleetFollower] = [:]
    /// What was reported.
    var reports: Set<String> = []
  }

  struct Timers: Sendable {
    var heartbeat: OperationSubscription?
    var probe: OperationSubscription?
    var watch: OperationSubscription?
    var messages: OperationSubscription?
  }

  /// The settings of the node.
  public let settings: FleetSettings
  let backend: any FleetBackend
  let deadlines: any DeadlineSource
  /// Distinguishes the node from all other nodes, even if they have the same name.
  let identity: String
  let state = Locked(State())
  private weak let client: OperationClient?
  private let executor: (any TaskExecutor)?

  init(client: OperationClient, backend: any FleetBackend, settings: FleetSettings, identity: UInt64) {
    let context = client.defaultContext
    self.client = client
    self.backend = backend
    self.settings = settings
    self.deadlines = context.operationDeadlines
    self.executor = context.operationTaskConfiguration.executorPreference
    self.identity = settings.nodeName + "#" + String(identity, radix: 36)
  }

  var joinedClient: OperationClient? { self.client }

  /// Whether the node reaches its backend, as far as it knows.
  public var connection: Connection {
    let now = self.deadlines.elapsed
    return self.state.withLock { state in
      if state.isClosed { return .left }
      return state.awaySince.map { .away(now - $0, cause: state.awayCause?.message ?? "") } ?? .connected
    }
  }

  /// Leaves the fleet: later runs are the client's own. Invalidations that were not sent are lost; call ``flush()`` before.
  ///
  /// The leases of runs under way are given back, so that no other node waits for them. Their values are the client's own.
  /// A process that ends after this call waits for that: call ``flush()`` again. The backend stays open, for those who
  /// share it.
  public func leave() {
    let (timers, waits, acknowledgements, leases) = self.state.withLock { state in
      let leases = state.isClosed || state.awaySince != nil ? [] : state.leases.held + state.leases.owed
      state.isClosed = true
      state.leases = FleetLeases()
      defer { state.timers = Timers() }
      return (state.timers, state.waits.removeAll(), state.pending.removeAll(), leases)
    }
    for lease in leases { self.startEnding("give a lease back") { _ = await self.giveBack(lease) } }
    for timer in [timers.heartbeat, timers.probe, timers.watch, timers.messages] { timer?.cancel() }
    for wait in waits { wait.decide(.closed) }
    for acknowledgement in acknowledgements { acknowledgement.decide(false) }
    self.endCalls()
    self.endIntroduction(isDone: false)
  }
}

// MARK: - Tasks and deadlines

extension FleetNode {
  /// Starts a task, on the executor of the node if it has one.
  @discardableResult
  func start(_ name: String, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    if let executor {
      Task(name: name, executorPreference: executor) { await body() }
    } else {
      Task.immediate(name: name) { await body() }
    }
  }

  /// Starts a task behind those that are ready to run.
  func startBehind(_ name: String, _ body: @escaping @Sendable () async -> Void) {
    Task(name: name, executorPreference: self.executor) { await body() }
  }

  /// Starts a task that ends a lease, for which ``flush()`` waits.
  func startEnding(_ name: String, _ body: @escaping @Sendable () async -> Void) {
    let number = self.state.withLock { state in
      state.lastEnding += 1
      return state.lastEnding
    }
    let hasEnded = Locked(false)
    let task = self.start(name) {
      await body()
      hasEnded.withLock { $0 = true }
      let ended = self.state.withLock { $0.endings.removeValue(forKey: number) }
      _ = consume ended  // Released after unlocking.
    }
    let surplus = self.state.withLock { state -> Task<Void, Never>? in
      // It may have ended before its task was known.
      if hasEnded.withLock({ $0 }) { return task }
      state.endings[number] = task
      return nil
    }
    _ = consume surplus  // Released after unlocking.
  }

  /// Calls the backend, and returns on time, whatever the call does then.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait, unless in a burst the backend answers others: see ``FleetPatience``.
  ///   - body: The call. It is cancelled when its caller no longer waits.
  /// - Returns: The answer; ``FleetError/Code/timedOut`` after the limit, or `CancellationError`.
  nonisolated(nonsending) func call<Answer: Sendable>(
    within limit: Duration,
    _ body: @escaping @Sendable (any FleetBackend) async throws -> Answer
  ) async -> Result<Answer, any Error> {
    let outcome = AwaitedOutcome<Result<Answer, any Error>>()
    let task = self.start("call the backend") { [backend] in
      do { outcome.decide(.success(try await body(backend))) } catch { outcome.decide(.failure(error)) }
    }
    let deadline = FleetPatience(limit, of: self) {
      outcome.decide(.failure(FleetError.noAnswer(within: limit)))
    }
    let start = self.deadlines.elapsed
    let result = await outcome.value(cancelled: .failure(CancellationError()))
    deadline.cancel()
    task.cancel()
    let now = self.deadlines.elapsed
    self.state.withLock { state in
      state.measurements.note(result.map { _ in () }, after: now - start, at: now)
    }
    return result
  }
}

extension FleetError {
  static func noAnswer(within limit: Duration) -> FleetError {
    FleetError(
      code: .timedOut,
      message: "The fleet's backend has not answered within \(limit). Look at its load and at the network to it."
    )
  }
}
