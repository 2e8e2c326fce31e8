internal import OperationCore
internal import OperationFoundation
internal import OperationTags

/// One run of a shared operation: what it gets from the fleet, and what it gives to it.
struct FleetRun<Value: Codable & Sendable>: Sendable {
  /// How a run goes on.
  enum Beginning: Sendable {
    /// There is a value.
    case value(Value)
    /// The operation runs here.
    case run(FleetAdmission)
    case cancelled
  }

  let node: FleetNode
  let key: FleetKey
  let settings: FleetSharing
  let context: OperationContext

  /// Asks the fleet for the value, or for the right to run.
  ///
  /// - Parameter show: Shows a value that is too old to be the one of the run, until the run has its own.
  /// - Returns: How the run goes on.
  nonisolated(nonsending) func begin(showing show: (Value, OperationContext) -> Void) async -> Beginning {
    var knownRevision = self.unwantedRevision
    while true {
      let entry = await self.node.enter(self.key, knownRevision: knownRevision)
      switch entry {
      case .value(let found, let source):
        if source == .shared, !self.mayTake(found) {
          knownRevision = found.revision
          self.showLast(found, show)
          continue
        }
        guard let envelope = FleetEnvelope<Value>(found.bytes) else {
          knownRevision = found.revision
          self.node.reportUnreadable(self.key, self.settings)
          continue
        }
        self.take(found, envelope, source)
        return .value(envelope.value)
      case .admitted(let admission): return .run(admission)
      case .cancelled: return .cancelled
      }
    }
  }

  /// The revision that the store has already, if the run is to find a newer one.
  private var unwantedRevision: Int64? {
    guard let revision = self.context.fleetRecord?.revision, revision > 0 else { return nil }
    if let kind = self.context.operationRunCause?.kind, kind == .earlyRefresh || kind == .polling { return revision }
    // A store that has the last value itself does not ask for it.
    guard self.context.maximumStaleValueAge != nil,
      let date = self.context.runningOperationStore?.stateWithoutLayers.valueLastUpdatedAt,
      self.context.date.timeIntervalSince(date) >= self.settings.timeToLive / .seconds(1)
    else { return nil }
    return revision
  }

  /// Whether a value that was stored before the run has asked is young enough, and newer than one that was set here.
  private func mayTake(_ found: FleetValue) -> Bool {
    // It is kept for longer where a stale value may be served.
    if found.age >= self.settings.timeToLive { return false }
    let maximum = self.context.maximumValueAge ?? self.context.operationStaleAfter
    if let maximum, maximum > .zero, found.age >= maximum { return false }
    guard let store = self.context.runningOperationStore, store.valueStamp.kind == .set,
      let date = store.stateWithoutLayers.valueLastUpdatedAt
    else { return true }
    if self.context.fleetRecord?.hasPut(valueOf: date, as: found.revision) ?? false { return true }
    return self.context.date.timeIntervalSince(date) > found.age / .seconds(1)
  }

  /// Shows the last value of the fleet while the operation runs, so that `.servesStale` has it if the run fails or takes long.
  ///
  /// It was not invalidated, or the backend would not have it.
  private func showLast(_ found: FleetValue, _ show: (Value, OperationContext) -> Void) {
    guard let maximum = self.context.maximumStaleValueAge, found.age <= maximum,
      let record = self.context.fleetRecord, let store = self.context.runningOperationStore
    else { return }
    let date = self.context.date.addingTimeInterval(-(found.age / .seconds(1)))
    if !store.isInvalidated, let own = store.stateWithoutLayers.valueLastUpdatedAt {
      // Also in a further attempt of the run, which asks again.
      if found.revision <= record.revision || own >= date { return }
    }
    guard let envelope = FleetEnvelope<Value>(found.bytes) else { return }
    let origin = OperationFleetOrigin(source: .shared, node: envelope.node, age: found.age)
    record.noteLast(origin, revision: found.revision)
    var entries = OperationContext(fleetOrigin: origin)
    entries.operationClock = .timeFreeze(date)
    show(envelope.value, entries)
  }

  private func take(_ found: FleetValue, _ envelope: FleetEnvelope<Value>, _ source: OperationFleetOrigin.Source) {
    // By the own clock and the age, because clocks differ.
    self.context.dateOutcome(self.context.date.addingTimeInterval(-(found.age / .seconds(1))))
    self.tell(OperationFleetOrigin(source: source, node: envelope.node, age: found.age))
    self.context.fleetRecord?.note(revision: found.revision)
  }

  private func tell(_ origin: OperationFleetOrigin) {
    self.context.addFleetOriginToOutcome(origin)
    self.context.fleetRecord?.note(origin)
    self.context.send(
      OperationNotice(
        .fleetValue,
        ofOperationNamed: self.context.runningOperationStore?.operationName,
        attributes: [
          "fleet.source": .string(origin.source.description),
          "fleet.node": .string(origin.node),
          "fleet.age": .duration(origin.age),
        ]
      )
    )
  }

  /// Shares the value of a run, and ends its lease. It returns within what is left of the time for the backend.
  nonisolated(nonsending) func finish(_ admission: FleetAdmission, with value: Value) async {
    self.tell(
      OperationFleetOrigin(source: admission.isAlone ? .alone : .run, node: self.node.settings.nodeName, age: .zero)
    )
    let isDerived = self.context.outcomeHasSources
    if isDerived {
      self.context.fleetRecord?.noteSources()
      self.node.reportDerived(self.key)
    }
    if let lease = admission.lease {
      // Only what a service has answered is shared: neither a fallback nor a value with an unconfirmed update.
      if !isDerived, self.context.outcomeStamp.mayLeaveStore,
        let write = self.node.write(value, in: self.context, self.settings, under: lease, admission.epoch)
      {
        let answer = await self.node.store(write, admission)
        if case .stored(let revision) = answer { self.context.fleetRecord?.note(revision: revision) }
      } else {
        self.node.release(admission)
      }
    }
  }
}

extension FleetNode {
  /// Encodes a value for the fleet.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - context: The context of the run or the store, which has the tags of the value.
  ///   - sharing: How the values of the operation are shared.
  ///   - lease: The lease under which it is stored.
  ///   - epoch: What the run or the setter of the value has seen.
  /// - Returns: What to store; nil, with a report, if the value cannot be shared.
  func write(
    _ value: some Codable & Sendable,
    in context: OperationContext,
    _ sharing: FleetSharing,
    under lease: FleetLease,
    _ epoch: FleetEpoch
  ) -> FleetWrite? {
    let tags = context.tags(of: value)
    let subjects = tags.compactMap { FleetNames.subject(ofTag: $0.path, reporting: true) }
    guard subjects.count == tags.count else { return nil }
    do {
      let bytes = try FleetEnvelope(value: value, node: self.settings.nodeName).encoded()
      if bytes.count <= self.settings.maximumValueSize, subjects.count <= FleetLimits.batch {
        return FleetWrite(
          lease: lease,
          epoch: epoch,
          tags: subjects,
          bytes: bytes,
          timeToLive: max(sharing.timeToLive, context.maximumStaleValueAge?.clampedForClock ?? .zero),
          isAnnounced: sharing.isPushed
        )
      }
      self.reportUnshared(lease.key, "it has \(bytes.count) bytes and \(subjects.count) tags")
    } catch {
      self.reportUnshared(lease.key, "it cannot be encoded: \(ShownText.ofEncoding(error))")
    }
    return nil
  }
}
