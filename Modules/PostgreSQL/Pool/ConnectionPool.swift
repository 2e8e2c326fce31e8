#if SwiftOperationPostgreSQL
  internal import OperationCore
  internal import OperationEventLoop

  /// The connections of one client of a server, and the callers that wait for one.
  final class ConnectionPool: Sendable {
    struct State: Sendable {
      var machine: PoolMachine<DatabaseConnection>
      var lastCaller: UInt64 = 0
      var waiting: [UInt64: AwaitedOutcome<Result<DatabaseConnection, PostgreSQLError>>] = [:]
      var pause: OperationSubscription?
      /// The timer of the next sweep; nil while there is at most one connection.
      var sweep: OperationSubscription?
      var measurements = PoolMeasurements()
    }

    /// How long a connection is kept without use, at least.
    private static let sweepInterval = Duration.seconds(30)

    /// How many calls wait at most; more of them would only fail later.
    private static let maximumCallers = 10_000
    /// How often a statement is made again after the connection was lost or a conflict.
    private static let maximumAttempts = 6

    let name: ConnectionName
    let timeout: Duration
    let deadlines: any DeadlineSource
    private let opening: ConnectionOpening
    private let delay: ReconnectDelay
    private let maximumAge: Duration?
    private let setUp: @Sendable (DatabaseConnection) async throws(PostgreSQLError) -> Void
    let state: Locked<State>

    /// - Parameters:
    ///   - opening: Opens the connections.
    ///   - maximumConnections: The largest number of connections.
    ///   - timeout: How long a call may take, with the wait for a connection.
    ///   - maximumAge: How long a connection is used at most; nil for as long as it lasts.
    ///   - isPatient: Whether calls wait for a server that does not answer.
    ///   - delay: The pauses between attempts to open a connection.
    ///   - deadlines: The source of time limits.
    ///   - setUp: Prepares a new connection.
    init(
      _ opening: ConnectionOpening,
      maximumConnections: Int,
      timeout: Duration,
      maximumAge: Duration? = nil,
      isPatient: Bool = true,
      delay: ReconnectDelay = ReconnectDelay(),
      deadlines: any DeadlineSource,
      setUp: @escaping @Sendable (DatabaseConnection) async throws(PostgreSQLError) -> Void
    ) {
      self.name = opening.name
      self.timeout = timeout
      self.deadlines = deadlines
      self.opening = opening
      self.delay = delay
      self.maximumAge = maximumAge
      self.setUp = setUp
      let machine = PoolMachine<DatabaseConnection>(
        maximumConnections: max(1, maximumConnections),
        maximumCallers: Self.maximumCallers,
        isPatient: isPatient,
        name: "\(opening.name)"
      )
      self.state = Locked(State(machine: machine))
    }

    deinit {
      let (closing, timers) = self.state.withLock { ($0.machine.close().closing, [$0.pause, $0.sweep]) }
      for timer in timers { timer?.cancel() }
      for connection in closing { connection.close() }
    }

    /// The number of connections, with those that are being opened.
    var connectionCount: Int { self.state.withLock { $0.machine.connectionCount } }

    /// Makes a statement that has the same effect if it is made twice: it is made again after a lost connection.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - parameters: Its parameters.
    ///   - limit: How long it may take, with the wait for a connection; nil for the time-out of the pool.
    ///   - isCancellable: Whether it ends when the task of the caller is cancelled.
    /// - Returns: The rows.
    /// - Throws: A ``PostgreSQLError``.
    nonisolated(nonsending) func perform(
      _ statement: Statement,
      _ parameters: [QueryValue] = [],
      within limit: Duration? = nil,
      isCancellable: Bool = true
    ) async throws(PostgreSQLError) -> [QueryRow] {
      let limit = limit ?? self.timeout
      let end = self.deadlines.elapsed + limit.clampedForClock
      var attempt = 1
      while true {
        let connection = try await self.acquire(until: end, limit, isCancellable)
        do {
          let remaining = max(.zero, end - self.deadlines.elapsed)
          return try await connection.perform(
            statement,
            parameters,
            within: remaining,
            isCancellable: isCancellable
          )
        } catch {
          guard error.isRepeatable, attempt < Self.maximumAttempts, self.deadlines.elapsed < end else { throw error }
          attempt += 1
        }
      }
    }

    /// Closes all connections, as soon as their statements have ended.
    func close() {
      self.perform { $0.close() }
    }
  }

  // MARK: - Callers

  extension ConnectionPool {
    private nonisolated(nonsending) func acquire(
      until end: Duration,
      _ limit: Duration,
      _ isCancellable: Bool
    ) async throws(PostgreSQLError) -> DatabaseConnection {
      let outcome = AwaitedOutcome<Result<DatabaseConnection, PostgreSQLError>>()
      let caller = self.state.withLock { state in
        state.lastCaller += 1
        state.waiting[state.lastCaller] = outcome
        return state.lastCaller
      }
      self.perform { $0.acquire(caller) }
      // Most callers get one at once, and need no timer.
      if !self.state.withLock({ $0.waiting[caller] != nil }) { return try await outcome.value().get() }
      let timer = self.deadlines.schedule(after: max(.zero, end - self.deadlines.elapsed)) { [weak self, name] in
        self?.leave(caller) { $0 ?? .timedOut("\(name)", after: limit) }
      }
      let start = self.deadlines.elapsed
      defer {
        timer.cancel()
        let duration = self.deadlines.elapsed - start
        self.state.withLock { $0.measurements.noteWait(duration) }
      }
      guard isCancellable else { return try await outcome.value().get() }
      let result = await withTaskCancellationHandler {
        await outcome.value()
      } onCancel: {
        self.leave(caller) { _ in .cancelled() }
      }
      return try result.get()
    }

    private func leave(_ caller: UInt64, _ error: (PostgreSQLError?) -> PostgreSQLError) {
      let (outcome, reason) = self.state.withLock { state in
        let (hasWaited, reason) = state.machine.leave(caller)
        return (hasWaited ? state.waiting.removeValue(forKey: caller) : nil, reason)
      }
      outcome?.decide(.failure(error(reason)))
    }
  }

  // MARK: - Connections

  extension ConnectionPool {
    /// Changes the machine, and does what follows.
    private func perform(
      _ change: (inout PoolMachine<DatabaseConnection>) -> PoolMachine<DatabaseConnection>.Actions
    ) {
      typealias Decision = (
        AwaitedOutcome<Result<DatabaseConnection, PostgreSQLError>>, Result<DatabaseConnection, PostgreSQLError>
      )
      let (actions, decisions) = self.state.withLock { state in
        let actions = change(&state.machine)
        var decisions: [Decision] = []
        for (caller, connection) in actions.grants {
          if let outcome = state.waiting.removeValue(forKey: caller) {
            decisions.append((outcome, .success(connection)))
          }
        }
        for (caller, error) in actions.failures {
          if let outcome = state.waiting.removeValue(forKey: caller) { decisions.append((outcome, .failure(error))) }
        }
        return (actions, decisions)
      }
      for connection in actions.closing { connection.close() }
      for _ in 0..<actions.openingCount { self.open() }
      if let failureCount = actions.pause { self.pause(after: failureCount) }
      for (outcome, result) in decisions { outcome.decide(result) }
    }

    private func open() {
      let (opening, setUp, timeout) = (self.opening, self.setUp, self.timeout)
      Task.detached { [weak self] in
        do throws(PostgreSQLError) {
          let connection = try await opening.open(within: timeout)
          do throws(PostgreSQLError) {
            try await setUp(connection)
          } catch {
            connection.close()
            throw error
          }
          self?.add(connection)
        } catch {
          self?.state.withLock { $0.measurements.failedOpenings += 1 }
          self?.perform { $0.didFail(error) }
        }
      }
    }

    private func add(_ connection: DatabaseConnection) {
      // Not all at once.
      let end = self.maximumAge.map { self.deadlines.elapsed + $0.clampedForClock * Double.random(in: 0.9...1) }
      self.state.withLock { $0.measurements.openings += 1 }
      connection.onEvent { [weak self, weak connection] event in
        guard let self, let connection else { return }
        switch event {
        case .free:
          let isOld = end.map { $0 <= self.deadlines.elapsed } ?? false
          self.perform { isOld ? $0.retire(connection) : $0.release(connection) }
        case .closed: self.perform { $0.remove(connection) }
        case .notification: break
        }
      }
      self.perform { $0.didOpen(connection) }
      // It may have been closed before the machine knew it.
      if connection.isClosed { self.perform { $0.remove(connection) } }
      self.startSweeping()
    }

    private func startSweeping() {
      let isNeeded = self.state.withLock { $0.sweep == nil && $0.machine.connectionCount > 1 && !$0.machine.isClosed }
      guard isNeeded else { return }
      let sweep = self.deadlines.schedule(after: Self.sweepInterval) { [weak self] in
        guard let self else { return }
        self.perform { $0.sweep() }
        self.state.withLock { state, released in released.append(state.sweep.take()) }
        self.startSweeping()
      }
      self.state.withLock { state, released in
        released.append(state.sweep)
        state.sweep = sweep
      }
    }

    private func pause(after failureCount: Int) {
      let pause = self.deadlines.schedule(after: self.delay(failureCount)) { [weak self] in
        self?.perform { $0.endPause() }
      }
      self.state.withLock { state, released in
        released.append(state.pause)
        state.pause = pause
      }
    }
  }
#endif
