import OperationCore
import OperationFleet
import Synchronization

/// A backend in memory with a fault.
final class BrokenFleet: FleetBackend {
  enum Fault: String, CaseIterable, Sendable {
    case none
    case truncatesBytes, keepsFirstValue, countsRevisionsAnew
    case foldsCase, takesPatterns, truncatesKeys
    case leavesOutMissing, reversesAnswers, invalidatesFirstOnly, reversesLeases, leavesOutLeases
    case keepsForever, hasNoAge
    case leasesToAll, leasesForever, releasesForOthers
    case repeatsTokens
    case renewsEnded, forgetsRenewal
    case leasesBeforeValues, forgetsKnownRevision
    case acceptsLateHolder
    case ignoresTags, ignoresPrefixes
    case acceptsLateValues, keepsLeaseOfRefused
    case repeatsEpochs, answersOldEpoch
    case listsNothing, listsEach, forgetsNodes
    case listsFuture
    case isSilent, announcesAll, hidesReleases, hidesValues
    case countsEpochsInPairs
    case isAlone
    case staysOpen
  }

  private struct State {
    var leases: [String: FleetLease] = [:]
    var storedKeys: Set<String> = []
    var lastToken: Int64 = 1_000_000
  }

  let fault: Fault
  let base: TestConnection
  private let state = Mutex(State())

  init(_ fault: Fault, on base: TestConnection) {
    self.fault = fault
    self.base = base
  }

  func another(_ deadlines: any DeadlineSource) -> BrokenFleet {
    let base = self.fault == .isAlone ? TestConnection(to: InMemoryFleet(deadlines: deadlines)) : self.base.another()
    return BrokenFleet(self.fault, on: base)
  }

  // MARK: - Texts

  private func text(_ text: String) -> String {
    switch self.fault {
    case .foldsCase: text.lowercased()
    case .takesPatterns: String(text.map { "_%-".contains($0) ? "?" : $0 })
    case .truncatesKeys: String(text.prefix(500))
    default: text
    }
  }

  private func subject(_ subject: FleetSubject) -> FleetSubject { FleetSubject(self.text(subject.text)) }

  private func key(_ key: FleetKey) -> FleetKey {
    let subjects = self.fault == .ignoresPrefixes ? key.subjects.suffix(1) : key.subjects[...]
    return FleetKey(self.text(key.text), subjects: subjects.map(self.subject))
  }

  /// The lease as the base knows it.
  private func lease(_ lease: FleetLease) -> FleetLease {
    let key = self.key(lease.key)
    if self.fault == .repeatsTokens || self.fault == .releasesForOthers || self.fault == .acceptsLateHolder {
      if let own = self.state.withLock({ $0.leases[key.text] }) { return own }
    }
    return FleetLease(key: key, owner: lease.owner, token: lease.token)
  }

  // MARK: - Calls

  func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup {
    let lookup = try await self.base.lookUp(keys.map(self.key))
    var values = lookup.values
    switch self.fault {
    case .leavesOutMissing: values = values.filter { $0 != nil }
    case .reversesAnswers: values.reverse()
    case .truncatesBytes: values = values.map { $0?.with(bytes: Array($0?.bytes.prefix(100) ?? [])) }
    case .hasNoAge: values = values.map { $0?.with(age: .zero) }
    default: break
    }
    return FleetLookup(values: values, epoch: self.fault == .answersOldEpoch ? .zero : lookup.epoch)
  }

  func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    let known: Int64? =
      switch self.fault {
      case .leasesBeforeValues: .max
      case .forgetsKnownRevision: nil
      default: request.knownRevision
      }
    if self.fault == .leasesToAll, let held = self.state.withLock({ $0.leases[self.key(request.key).text] }) {
      try await self.base.releaseLease(held)
    }
    let answer = try await self.base.acquireLease(
      FleetLeaseRequest(
        key: self.key(request.key),
        owner: request.owner,
        duration: self.fault == .leasesForever ? .seconds(86_400) : request.duration,
        knownRevision: known
      )
    )
    guard case .granted(let lease, let epoch) = answer else { return answer }
    let token = self.state.withLock { state in
      state.leases[lease.key.text] = lease
      return self.fault == .repeatsTokens ? 1 : lease.token
    }
    return .granted(FleetLease(key: request.key, owner: lease.owner, token: token), epoch: epoch)
  }

  func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer] {
    var answers: [FleetLeaseAnswer] = []
    for request in requests { answers.append(try await self.acquireLease(request)) }
    switch self.fault {
    case .reversesLeases: return answers.reversed()
    case .leavesOutLeases: return answers.filter { if case .heldByAnother = $0 { false } else { true } }.dropLast()
    default: return answers
    }
  }

  func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
    if self.fault == .forgetsRenewal { return true }
    let isRenewed = try await self.base.renewLease(self.lease(lease), for: duration)
    return self.fault == .renewsEnded || isRenewed
  }

  func releaseLease(_ lease: FleetLease) async throws { try await self.base.releaseLease(self.lease(lease)) }

  func store(_ write: FleetWrite) async throws -> FleetWriteAnswer {
    let lease = self.lease(write.lease)
    if self.fault == .keepsFirstValue, !self.state.withLock({ $0.storedKeys.insert(lease.key.text).inserted }) {
      try await self.base.releaseLease(lease)
      return .stored(revision: .max)
    }
    let current = try await self.base.lookUp([lease.key]).epoch
    let answer = try await self.base.store(
      FleetWrite(
        lease: lease,
        epoch: self.fault == .acceptsLateValues ? current : write.epoch,
        tags: self.fault == .ignoresTags ? [] : write.tags.map(self.subject),
        bytes: write.bytes,
        timeToLive: self.fault == .keepsForever ? .seconds(86_400) : write.timeToLive,
        isAnnounced: self.fault == .announcesAll || write.isAnnounced
      )
    )
    switch (self.fault, answer) {
    case (.countsRevisionsAnew, .stored): return .stored(revision: 1)
    case (.keepsLeaseOfRefused, .invalidated):
      _ = try await self.base.acquireLease(
        FleetLeaseRequest(key: lease.key, owner: lease.owner, duration: .seconds(3_600), knownRevision: .max)
      )
      return answer
    default: return answer
    }
  }

  func invalidate(_ subjects: [FleetSubject], by node: String) async throws -> FleetEpoch {
    let subjects = self.fault == .invalidatesFirstOnly ? Array(subjects.prefix(1)) : subjects
    let node = self.fault == .forgetsNodes ? "somebody" : node
    let epoch = try await self.base.invalidate(subjects.map(self.subject), by: node)
    switch self.fault {
    case .repeatsEpochs: return FleetEpoch(rawValue: 1)
    case .countsEpochsInPairs: return FleetEpoch(rawValue: (epoch.rawValue + 1) / 2)
    default: return epoch
    }
  }

  func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
    let answer = try await self.base.invalidations(since: epoch)
    switch (self.fault, answer) {
    case (.listsNothing, .listed(_, let epoch)): return .listed([], upTo: epoch)
    case (.listsEach, .listed(let list, let epoch)): return .listed(list + list, upTo: epoch)
    case (.listsFuture, .everything(let now)) where epoch > now: return .listed([], upTo: now)
    default: return answer
    }
  }

  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
    if self.fault == .isSilent { return .empty }
    let fault = self.fault
    return self.base.messages { message in
      switch (fault, message) {
      case (.hidesReleases, .released), (.hidesValues, .stored): break
      default: handler(message)
      }
    }
  }

  func close() async {
    if self.fault != .staysOpen { await self.base.close() }
  }
}

extension FleetValue {
  fileprivate func with(bytes: [UInt8]? = nil, age: Duration? = nil) -> FleetValue {
    FleetValue(bytes: bytes ?? self.bytes, revision: self.revision, epoch: self.epoch, age: age ?? self.age)
  }
}
