public import OperationCore
internal import OperationFoundation
internal import OperationTags

/// A fleet is a level of the reach `fleet`: runs ask it for a value, or for the right to make one,
/// which is the lease of its key.
extension FleetNode: ValueLevel {
  /// The name of the node.
  public var name: String { self.settings.nodeName }

  /// Other nodes read the values.
  public var reach: ValueReach { .fleet }

  /// The backend numbers invalidations, and returns no value that was invalidated.
  public var order: EpochOrder? { EpochOrder(id: self.identity) }

  /// Nothing: the backend has to be asked.
  public func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance { .unknown }

  /// Gets a value that meets the demand, or the one that another node is making, or the right to make one.
  ///
  /// It returns within the ``FleetSettings/lookupTimeout``, unless another node runs.
  public nonisolated(nonsending) func lookUp(_ key: LevelKey, _ demand: ValueDemand) async throws -> LevelAnswer {
    guard let fleetKey = FleetNames.key(key.path, name: key.name, version: key.version) else { return .none(nil) }
    let (start, first) = (self.deadlines.elapsed, demand.now)
    var demand = demand
    while true {
      switch await self.enter(fleetKey, knownRevision: demand.newerThan) {
      case .value(let found, let source, let asked):
        demand.now = first.addingTimeInterval((self.deadlines.elapsed - start) / .seconds(1))
        // The answer does not say when the backend looked. Counted from when it was asked, no value passes for younger than it is.
        let value = LevelValue(found, from: source, at: first.addingTimeInterval((asked - start) / .seconds(1)))
        // One that another node has made while this one waited is newer than all that is known here.
        if source == .awaited || demand.isMet(by: value) { return .value(value) }
        demand.newerThan = found.revision
      case .admitted(let admission): return .none(LevelRight(admission))
      case .cancelled: throw CancellationError()
      }
    }
  }

  /// Stores a value, and ends the right within what is left of the time for the backend.
  ///
  /// Without a right nothing is stored: no node could tell which of two values is the newer one.
  public func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?) {
    guard let right, let admission = right.admission else { return }
    value.afterwards {
      guard let lease = admission.lease, value.stamp.mayLeaveStore, value.stamp.kind != .none,
        let write = self.write(value, for: key, under: lease, admission.epoch)
      else { return self.giveUp(right) }
      self.store(write, admission) { revision in
        if let revision { value.context.fleetRecord?.note(revision: revision, of: value) }
        right.end()
      }
    }
  }

  /// Gives the lease back.
  public func giveUp(_ right: LevelRight) {
    if let admission = right.admission { self.release(admission) }
    right.end()
  }

  /// Invalidates values for all nodes, which read them no more. Their bytes end with their time to live.
  ///
  /// - Throws: ``FleetError`` if the backend does not answer. It is told when it is back.
  public nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws {
    let path: OperationPath = if case .path(let path) = scope { path } else { [] }
    self.discardPreloaded(matching: path)
    let isSent: Bool = await self.flush()
    if !isSent { throw FleetError.noAnswer(within: self.settings.lookupTimeout) }
  }

  /// Does nothing: the client has told the node already, which passes on what others have not told it.
  public func invalidate(_ invalidations: [Invalidation]) {}
}

extension LevelRight {
  var admission: FleetAdmission? { self.content as? FleetAdmission }
}

extension LevelValue {
  /// A value of the backend, dated by the own clock and its age at that time, because clocks differ.
  init(_ found: FleetValue, from source: OperationFleetOrigin.Source, at now: Date) {
    let envelope = FleetEnvelope(found.bytes)
    self.init(stamp: ValueStamp(.final), date: now.addingTimeInterval(-(found.age / .seconds(1)))) {
      guard let envelope else { throw UnreadableFleetValue() }
      return Array(envelope.content)
    }
    self.revision = found.revision
    self.context = OperationContext(
      fleetOrigin: OperationFleetOrigin(source: source, node: envelope?.node ?? "", age: found.age)
    )
  }
}

/// The bytes have a form of a later version.
private struct UnreadableFleetValue: Error {}

extension FleetNode {
  /// What is stored of a value; nil, with a report, if it cannot be shared.
  private func write(
    _ value: LevelValue,
    for key: LevelKey,
    under lease: FleetLease,
    _ epoch: FleetEpoch
  ) -> FleetWrite? {
    let tags = value.tags
    let subjects = tags.compactMap { FleetNames.subject(ofTag: $0, reporting: true) }
    guard subjects.count == tags.count else { return nil }
    do {
      let bytes = FleetEnvelope(try value.bytes(), node: self.settings.nodeName).bytes
      if bytes.count <= self.settings.maximumValueSize, subjects.count <= FleetLimits.batch {
        return FleetWrite(
          lease: lease,
          epoch: epoch,
          tags: subjects,
          bytes: bytes,
          timeToLive: max(
            value.maximumAge ?? .seconds(60),
            value.context.maximumStaleValueAge?.clampedForClock ?? .zero
          ),
          isAnnounced: value.context.fleetRecord?.settings.isPushed ?? false
        )
      }
      self.reportUnshared(key, "it has \(bytes.count) bytes and \(subjects.count) tags")
    } catch {
      self.reportUnshared(key, "it cannot be encoded: \(ShownText.ofEncoding(error))")
    }
    return nil
  }
}
