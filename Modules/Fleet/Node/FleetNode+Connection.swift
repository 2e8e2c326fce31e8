public import OperationCore

extension OperationNotice.Name {
  /// The backend of a fleet does not answer, and the node goes on alone. The attribute `fleet.error` names the cause.
  public static let fleetAway = Self("fleet.away")

  /// The backend of a fleet answers again. The attribute `fleet.duration` is how long it has not.
  public static let fleetBack = Self("fleet.back")
}

extension FleetNode {
  /// Whether the backend is away, or the node has left: then runs do not ask.
  var isAlone: Bool { self.state.withLock { $0.isClosed || $0.awaySince != nil } }

  /// Takes a failure of a call. Until the backend answers again, nobody but the node itself asks it.
  func noteFailure(_ error: any Error) {
    // The caller has left, which says nothing about the backend.
    if error is CancellationError { return }
    let now = self.deadlines.elapsed
    let waits = self.state.withLock { state -> [AwaitedOutcome<WakeReason>]? in
      if state.isClosed || state.awaySince != nil { return nil }
      state.awaySince = now
      state.probes = 0
      return state.waits.removeAll()
    }
    guard let waits else { return }
    self.send(.fleetAway, ["fleet.error": .string(Self.code(of: error))])
    for wait in waits { wait.decide(.away) }
    let acknowledgements = self.state.withLock { $0.pending.takeWaits() }
    for acknowledgement in acknowledgements { acknowledgement.decide(false) }
    self.endIntroduction(isDone: false)
    self.scheduleProbe()
  }

  private static func code(of error: any Error) -> String {
    (error as? FleetError)?.code.description ?? String(reflecting: type(of: error))
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
      switch await self.askForInvalidations(within: self.settings.lookupTimeout) {
      case .success: self.noteReturn()
      case .failure: self.scheduleProbe()
      }
    }
  }

  private func noteReturn() {
    let now = self.deadlines.elapsed
    let since = self.state.withLock { state -> Duration? in
      if state.isClosed { return nil }
      return state.awaySince.take()
    }
    guard let since else { return }
    self.sendPending()
    self.send(.fleetBack, ["fleet.duration": .duration(now - since)])
    // Messages may have come while nobody asked.
    self.note(self.state.withLock { $0.seenEpoch })
  }
}
