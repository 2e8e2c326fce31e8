internal import OperationFleet

/// The check by a model: random calls, which an ``/OperationFleet/InMemoryFleet`` answers, too.
extension FleetBackendCheck {
  func checkModel() async throws -> [String] {
    var comparison = try await FleetComparison(self.backend)
    for round in 0..<10 {
      comparison.begin(round, keys: (0..<6).map { self.key("round\(round)/\($0 % 2)/\($0)") })
      for step in 0..<200 {
        guard let difference = try await comparison.step() else { continue }
        return ["in round \(round), after \(step) random calls, \(difference) Keep the rules in any order of calls."]
      }
    }
    return []
  }
}

/// Makes the same calls of a backend and of its model, and finds where their answers differ.
///
/// Epochs, tokens and revisions are numbers of each of the two. All times are so long that none of them ends.
private struct FleetComparison<Backend: FleetBackend> {
  /// What a run has: its lease and the epoch that it has seen, of both.
  struct Run {
    let ofBackend: (lease: FleetLease, epoch: FleetEpoch)
    let ofModel: (lease: FleetLease, epoch: FleetEpoch)
  }

  private static var hour: Duration { .seconds(3_600) }

  private let backend: Backend
  private let model = InMemoryFleet()
  private var random: UInt64 = 0
  private var keys: [FleetKey] = []
  private var runs: [Run] = []
  /// Epochs of the same moments.
  private var epochs: [(backend: FleetEpoch, model: FleetEpoch)] = []
  /// The last revision of each key.
  private var revisions: [FleetKey: (backend: Int64, model: Int64)] = [:]
  private var bytes: UInt8 = 0

  init(_ backend: Backend) async throws {
    self.backend = backend
    let key = FleetKey("model", subjects: [])
    self.epochs = [(try await backend.lookUp([key]).epoch, try await self.model.lookUp([key]).epoch)]
  }

  mutating func begin(_ seed: Int, keys: [FleetKey]) {
    (self.random, self.keys, self.runs) = (UInt64(seed), keys, [])
    self.epochs.removeFirst(max(self.epochs.count - 10, 0))
  }

  /// Makes one call of each.
  ///
  /// - Returns: The difference of their answers, in a sentence; nil for none.
  mutating func step() async throws -> String? {
    switch self.number(below: 10) {
    case 0, 1: try await self.lookUp()
    case 2, 3: try await self.acquire(count: 1)
    case 4: try await self.acquire(count: 1 + self.number(below: 4))
    case 5, 6: try await self.store()
    case 7: try await self.endOrRenew()
    case 8: try await self.invalidate()
    default: try await self.list()
    }
  }

  /// A random number, by the steps of SplitMix.
  private mutating func number(below limit: Int) -> Int {
    self.random &+= 0x9E37_79B9_7F4A_7C15
    var mixed = self.random
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ mixed >> 31) % UInt64(limit))
  }

  private func difference(_ call: String, _ answer: some Equatable, _ expected: some Equatable) -> String? {
    let (answer, expected) = ("\(answer)", "\(expected)")
    return answer == expected ? nil : "\(call) was answered with \(answer), and \(expected) was right."
  }

  private mutating func lookUp() async throws -> String? {
    let keys = (0...self.number(below: self.keys.count)).map { self.keys[$0] }.reversed() as [FleetKey]
    let answer = try await self.backend.lookUp(keys).values.map(\.?.bytes)
    return self.difference("lookUp", answer, try await self.model.lookUp(keys).values.map(\.?.bytes))
  }

  private mutating func acquire(count: Int) async throws -> String? {
    var (requests, copies): ([FleetLeaseRequest], [FleetLeaseRequest]) = ([], [])
    let first = self.number(below: self.keys.count)
    for index in 0..<count {
      let (key, owner) = (self.keys[(first + index) % self.keys.count], "owner \(self.number(below: 3))")
      // None, the last one, or any.
      let known: (backend: Int64, model: Int64)? =
        switch self.number(below: 4) {
        case 0: self.revisions[key]
        case 1: (.max, .max)
        default: nil
        }
      let request = { FleetLeaseRequest(key: key, owner: owner, duration: Self.hour, knownRevision: $0) }
      requests.append(request(known?.backend))
      copies.append(request(known?.model))
    }
    let answers = try await self.backend.acquireLeases(requests)
    let expected = try await self.model.acquireLeases(copies)
    for (answer, copy) in zip(answers, expected) {
      if case (.granted(let lease, let epoch), .granted(let other, let otherEpoch)) = (answer, copy) {
        // An owner that asks again may have made its former lease an old one.
        self.runs.removeAll { $0.ofBackend.lease.key == lease.key && $0.ofBackend.lease.owner == lease.owner }
        self.runs.append(Run(ofBackend: (lease, epoch), ofModel: (other, otherEpoch)))
      }
    }
    return self.difference("acquireLeases", answers.map(\.kind), expected.map(\.kind))
  }

  private mutating func store() async throws -> String? {
    guard !self.runs.isEmpty else { return nil }
    let run = self.runs[self.number(below: self.runs.count)]
    let tags = self.number(below: 2) == 0 ? [] : [FleetSubject("tag \(self.number(below: 3))")]
    self.bytes &+= 1
    func write(_ run: (lease: FleetLease, epoch: FleetEpoch)) -> FleetWrite {
      FleetWrite(lease: run.lease, epoch: run.epoch, tags: tags, bytes: [self.bytes], timeToLive: Self.hour)
    }
    let answer = try await self.backend.store(write(run.ofBackend))
    let expected = try await self.model.store(write(run.ofModel))
    if case (.stored(let revision), .stored(let other)) = (answer, expected) {
      let key = run.ofBackend.lease.key
      if let last = self.revisions[key]?.backend, revision <= last {
        return "the revision \(last) of a key was followed by \(revision)."
      }
      self.revisions[key] = (revision, other)
    }
    return self.difference("store", answer.kind, expected.kind)
  }

  private mutating func endOrRenew() async throws -> String? {
    guard !self.runs.isEmpty else { return nil }
    let run = self.runs[self.number(below: self.runs.count)]
    if self.number(below: 2) == 0 {
      try await self.backend.releaseLease(run.ofBackend.lease)
      try await self.model.releaseLease(run.ofModel.lease)
      return nil
    }
    let answer = try await self.backend.renewLease(run.ofBackend.lease, for: Self.hour)
    return self.difference("renewLease", answer, try await self.model.renewLease(run.ofModel.lease, for: Self.hour))
  }

  private mutating func invalidate() async throws -> String? {
    let key = self.keys[self.number(below: self.keys.count)]
    var subjects = [key.subjects[1 + self.number(below: key.subjects.count - 1)]]
    if self.number(below: 3) == 0 { subjects.append(FleetSubject("tag \(self.number(below: 3))")) }
    let node = "node \(self.number(below: 2))"
    let epoch = try await self.backend.invalidate(subjects, by: node)
    if let last = self.epochs.last?.backend, epoch <= last { return "the epoch \(last) was followed by \(epoch)." }
    self.epochs.append((epoch, try await self.model.invalidate(subjects, by: node)))
    return nil
  }

  private mutating func list() async throws -> String? {
    let since = self.epochs[self.number(below: self.epochs.count)]
    let answer = try await self.backend.invalidations(since: since.backend)
    // A backend may have forgotten what the model knows.
    guard case .listed(let list, _) = answer,
      case .listed(let expected, _) = try await self.model.invalidations(since: since.model)
    else { return nil }
    let texts = [list, expected].map { $0.map { "\($0.subject.text) by \($0.node)" }.sorted() }
    return self.difference("invalidations", texts[0], texts[1])
  }
}

extension FleetLeaseAnswer {
  /// The answer without numbers, which differ.
  fileprivate var kind: String {
    switch self {
    case .granted(let lease, _): "\(lease.key) granted to \(lease.owner)"
    case .fresh(let value, _): "the value \(value.bytes)"
    case .heldByAnother(let owner, _): "held by \(owner)"
    }
  }
}

extension FleetWriteAnswer {
  fileprivate var kind: String {
    switch self {
    case .stored: "stored"
    case .leaseEnded: "leaseEnded"
    case .invalidated: "invalidated"
    }
  }
}
