public import OperationCore

extension OperationNotice.Name {
  /// The backend of a fleet does not answer, or refuses writes, and the node goes on alone.
  ///
  /// The attribute `fleet.error` names the kind of the cause, and `fleet.message` is its message, with the remedy.
  public static let fleetAway = Self("fleet.away")

  /// The backend of a fleet answers again. The attribute `fleet.duration` is how long it has not.
  public static let fleetBack = Self("fleet.back")

  /// No messages of the backend of a fleet arrive, so that the node learns of invalidations by its heartbeat.
  ///
  /// The attributes `fleet.error` and `fleet.message` tell why.
  public static let fleetNoMessages = Self("fleet.no_messages")
}

extension FleetNode {
  /// Whether the backend is away, or the node has left: then runs do not ask.
  var isAlone: Bool { self.state.withLock { $0.isClosed || $0.awaySince != nil } }

  /// Takes a failure of a call. Until the backend answers again, only the node itself asks it.
  func noteFailure(_ error: any Error) {
    // The caller has left, which says nothing about the backend.
    if error is CancellationError { return }
    let now = self.deadlines.elapsed
    let cause = FleetError(of: error)
    let waits = self.state.withLock { state -> [AwaitedOutcome<WakeReason>]? in
      if state.isClosed || state.awaySince != nil { return nil }
      state.awaySince = now
      state.measurements.aways += 1
      state.awayCause = cause
      // One that has failed again at once, as with each write of a kind, is asked less and less often.
      if state.returnedAt.map({ now - $0 > Self.longestProbeDelay * 2 }) ?? true { state.probes = 0 }
      return state.waits.removeAll()
    }
    guard let waits else { return }
    self.send(.fleetAway, ["fleet.error": .string(Self.code(of: error)), "fleet.message": .string(cause.message)])
    self.reportAway(cause)
    for wait in waits { wait.decide(.away) }
    let acknowledgements = self.state.withLock { $0.pending.takeWaits() }
    for acknowledgement in acknowledgements { acknowledgement.decide(false) }
    self.endCalls()
    self.endIntroduction(isDone: false)
    self.scheduleProbe()
  }

  /// How long a backend that has served after a refusal is not asked again after another one.
  private static let verifiedDuration = Duration.seconds(1)

  /// Takes a failure of a call for one key. A backend that has refused it may serve the others: then the node stays.
  func noteFailureOfOneKey(_ error: any Error) {
    guard let refusal = error as? FleetError, refusal.code == .failed else { return self.noteFailure(error) }
    let now = self.deadlines.elapsed
    let begins = self.state.withLock { state in
      if state.isClosed || state.awaySince != nil || state.isVerifying { return false }
      if let verifiedAt = state.verifiedAt, now - verifiedAt < Self.verifiedDuration { return false }
      state.isVerifying = true
      return true
    }
    guard begins else { return }
    self.start("ask the backend after a refusal") {
      do throws(FleetError) {
        try await self.askAndWrite()
        let now = self.deadlines.elapsed
        self.state.withLock { state in
          state.isVerifying = false
          state.verifiedAt = now
        }
        self.reportRefusal(refusal)
      } catch {
        self.state.withLock { $0.isVerifying = false }
        self.noteFailure(error)
      }
    }
  }

  private static func code(of error: any Error) -> String {
    (error as? FleetError)?.code.description ?? ShownText.typeName(of: error)
  }

  private func send(_ name: OperationNotice.Name, _ attributes: [String: OperationNotice.Value]) {
    self.joinedClient?.defaultContext.send(OperationNotice(name, attributes: attributes))
  }

  // MARK: - Asking again

  private static let shortestProbeDelay = Duration.milliseconds(50)
  private static let longestProbeDelay = Duration.seconds(5)

  /// Asks again after a delay, which doubles each time.
  private func scheduleProbe() {
    let delay = self.state.withLock { state in
      defer { state.probes += 1 }
      return min(Self.shortestProbeDelay * (1 << min(state.probes, 10)), Self.longestProbeDelay)
    }
    let timer = self.deadlines.schedule(after: delay) { [weak self] in self?.probe() }
    let surplus = self.state.withLock { state -> OperationSubscription? in
      if state.isClosed { return timer }
      defer { state.timers.probe = timer }
      return state.timers.probe
    }
    surplus?.cancel()
  }

  private func probe() {
    self.start("ask the backend again") {
      do throws(FleetError) {
        try await self.askAndWrite()
        self.noteReturn()
      } catch {
        // It may be another one than that of the first failure.
        self.state.withLock { state, released in
          released.append(state.awayCause)
          state.awayCause = error
        }
        self.reportAway(error)
        self.scheduleProbe()
      }
    }
  }

  /// Asks for invalidations, and takes a lease that no other node wants.
  ///
  /// A backend that reads but refuses writes, such as a standby server, would send the node away again with its next run.
  private func askAndWrite() async throws(FleetError) {
    let limit = self.settings.lookupTimeout
    func check<Answer>(_ answer: Result<Answer, any Error>) throws(FleetError) -> Answer {
      do { return try answer.get() } catch { throw FleetError(of: error) }
    }
    try check(await self.askForInvalidations(within: limit))
    // No key of a value begins so. It is the owner of a probe whose answer was lost, too.
    let name = "node#" + (self.identity.split(separator: "#").last ?? "")
    let request = FleetLeaseRequest(key: FleetKey(name, subjects: []), owner: name, duration: limit)
    let lease = try check(await self.call(within: limit) { try await $0.acquireLease(request) })
    if case .granted(let lease, _) = lease {
      try check(await self.call(within: limit) { try await $0.releaseLease(lease) })
    }
  }

  private func noteReturn() {
    let now = self.deadlines.elapsed
    let since = self.state.withLock { state, released -> Duration? in
      if state.isClosed { return nil }
      state.returnedAt = now
      let cause = state.awayCause.take()
      released.append(cause)
      return state.awaySince.take()
    }
    guard let since else { return }
    self.giveBackOwed()
    self.sendPending()
    self.send(.fleetBack, ["fleet.duration": .duration(now - since)])
    // Messages may have come between two questions.
    self.note(self.state.withLock { $0.seenEpoch })
  }
}

// MARK: - Messages

extension FleetNode {
  /// Tells once that the backend passes no messages on.
  func checkMessages() {
    let failure = self.backend.messagesFailure
    let isNew = self.state.withLock { state, released in
      released.append(state.messagesFailure)
      defer { state.messagesFailure = failure }
      return state.messagesFailure == nil && failure != nil && !state.isClosed
    }
    guard isNew, let failure else { return }
    let attributes = ["fleet.error": failure.code.description, "fleet.message": failure.message]
    self.send(.fleetNoMessages, attributes.mapValues { .string($0) })
    self.reportNoMessages(failure)
  }
}

extension FleetError {
  /// An error of a backend. One of another type is shown without its secrets.
  init(of error: any Error) {
    self = error as? FleetError ?? FleetError(code: .failed, message: ShownText.of(error), cause: error)
  }
}
