#if SwiftOperationValkey
  internal import OperationCore
  internal import OperationEventLoop

  /// The one connection over which all calls of a fleet go: it is opened by a call, and again after it was lost.
  ///
  /// After a failure, calls fail at once until a pause has passed, so that nodes go on alone. The pauses grow.
  final class ConnectionKeeper: Sendable {
    private enum Phase: Sendable {
      case idle
      case opening([AwaitedOutcome<Result<ServerConnection, ValkeyError>>])
      /// Until a time, after which another one takes its place.
      case open(ServerConnection, until: Duration?)
      case pausing(ValkeyError, OperationSubscription?)
      case closed
    }

    private struct State: Sendable {
      var phase = Phase.idle
      /// How many attempts have failed in a row.
      var failureCount = 0
      /// How many attempts have succeeded, and how many have not.
      var (openings, failedOpenings) = (0, 0)
      /// Why the last attempt has failed; nil if it has not.
      var failure: ValkeyError?
    }

    let name: ServerName
    let timeout: Duration
    private let maximumAge: Duration?
    private let deadlines: any DeadlineSource
    private let opening: ConnectionOpening
    private let setUp: @Sendable (ServerConnection) async throws(ValkeyError) -> Void
    private let delay = ReconnectDelay()
    private let state = Locked(State())

    /// - Parameters:
    ///   - opening: Opens the connection.
    ///   - timeout: How long opening the connection may take.
    ///   - maximumAge: How long a connection is used at most; nil for as long as it lasts.
    ///   - deadlines: The source of time limits.
    ///   - setUp: Prepares a new connection.
    init(
      _ opening: ConnectionOpening,
      timeout: Duration,
      maximumAge: Duration? = nil,
      deadlines: any DeadlineSource,
      setUp: @escaping @Sendable (ServerConnection) async throws(ValkeyError) -> Void
    ) {
      self.name = opening.name
      self.timeout = timeout
      self.maximumAge = maximumAge
      self.deadlines = deadlines
      self.opening = opening
      self.setUp = setUp
    }

    deinit {
      self.close()
    }

    /// The connection, as soon as there is one.
    ///
    /// - Returns: A connection, which may be lost at any time.
    /// - Throws: A ``ValkeyError`` if it cannot be opened, or could not be a moment ago.
    nonisolated(nonsending) func connection() async throws(ValkeyError) -> ServerConnection {
      let outcome = AwaitedOutcome<Result<ServerConnection, ValkeyError>>()
      let now = self.deadlines.elapsed
      let (opens, old) = self.state.withLock { state -> (Bool, ServerConnection?) in
        switch state.phase {
        case .open(let connection, let end):
          // One that was lost may not have said so yet, and a caller who has met it comes at once.
          if connection.isClosed || end.map({ $0 <= now }) ?? false {
            state.phase = .opening([outcome])
            return (true, connection)
          }
          outcome.decide(.success(connection))
        case .pausing(let error, _): outcome.decide(.failure(error))
        case .closed: outcome.decide(.failure(.closed(self.name)))
        case .opening(let waiting): state.phase = .opening(waiting + [outcome])
        case .idle:
          state.phase = .opening([outcome])
          return (true, nil)
        }
        return (false, nil)
      }
      old?.retire()
      if opens { self.open() }
      return try await outcome.value(cancelled: .failure(.cancelled())).get()
    }

    /// Closes the connection. Calls under way fail.
    func close() {
      let former = self.state.withLock { state in
        defer { state.phase = .closed }
        return state.phase
      }
      switch former {
      case .idle, .closed: break
      case .opening(let waiting): for outcome in waiting { outcome.decide(.failure(.closed(self.name))) }
      case .open(let connection, _): connection.close()
      case .pausing(_, let pause): pause?.cancel()
      }
    }
  }

  extension ConnectionKeeper {
    /// What it has now and has counted, as a snapshot without what listens.
    func snapshot(_ name: String) -> ValkeySnapshot {
      let state = self.state.withLock { $0 }
      var snapshot = ValkeySnapshot(name: name)
      switch state.phase {
      case .idle, .pausing, .closed: break
      case .opening(let waiting): snapshot.waiting = waiting.count
      case .open(let connection, _):
        snapshot.isConnected = true
        snapshot.waiting = connection.requestCount
      }
      (snapshot.openings, snapshot.failedOpenings) = (state.openings, state.failedOpenings)
      snapshot.failure = state.failure?.message
      return snapshot
    }
  }

  extension ConnectionKeeper {
    private func open() {
      let (opening, setUp, timeout) = (self.opening, self.setUp, self.timeout)
      Task.detached { [weak self] in
        do throws(ValkeyError) {
          let connection = try await opening.open(within: timeout)
          do throws(ValkeyError) {
            try await setUp(connection)
          } catch {
            connection.close()
            throw error
          }
          guard let self else { return connection.close() }
          self.didOpen(connection)
        } catch {
          self?.didFail(error)
        }
      }
    }

    private func didOpen(_ connection: ServerConnection) {
      connection.onEvent { [weak self, weak connection] event in
        if case .closed = event, let connection { self?.didLose(connection) }
      }
      // Not all of a fleet at once.
      let end = self.maximumAge.map { self.deadlines.elapsed + $0.clampedForClock * Double.random(in: 0.9...1) }
      let waiting = self.state.withLock { state -> [AwaitedOutcome<Result<ServerConnection, ValkeyError>>]? in
        state.openings += 1
        guard case .opening(let waiting) = state.phase else { return nil }
        state.phase = .open(connection, until: end)
        state.failureCount = 0
        state.failure = nil
        return waiting
      }
      guard let waiting else { return connection.close() }
      for outcome in waiting { outcome.decide(.success(connection)) }
      // It may have been closed before it was listened to.
      if connection.isClosed { self.didLose(connection) }
    }

    private func didLose(_ connection: ServerConnection) {
      self.state.withLock { state in
        if case .open(let current, _) = state.phase, current === connection { state.phase = .idle }
      }
    }

    private func didFail(_ error: ValkeyError) {
      typealias Outcomes = [AwaitedOutcome<Result<ServerConnection, ValkeyError>>]
      let (waiting, failureCount) = self.state.withLock { state -> (Outcomes, Int) in
        state.failedOpenings += 1
        guard case .opening(let waiting) = state.phase else { return ([], 0) }
        state.phase = .pausing(error, nil)
        state.failure = error
        state.failureCount += 1
        return (waiting, state.failureCount)
      }
      guard failureCount > 0 else { return }
      // Before the callers know of the failure: the pause has begun when they do.
      defer { for outcome in waiting { outcome.decide(.failure(error)) } }
      let pause = self.deadlines.schedule(after: self.delay(failureCount)) { [weak self] in self?.endPause() }
      let isObsolete = self.state.withLock { state in
        guard case .pausing(let error, nil) = state.phase else { return true }
        state.phase = .pausing(error, pause)
        return false
      }
      if isObsolete { pause.cancel() }
    }

    private func endPause() {
      let pause = self.state.withLock { state -> OperationSubscription? in
        guard case .pausing(_, let pause) = state.phase else { return nil }
        state.phase = .idle
        return pause
      }
      _ = consume pause  // Released after unlocking.
    }
  }
#endif
