public import OperationFleet
internal import OperationTesting
public import Testing

/// Checks that a backend follows the rules that the nodes of a fleet rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkFleetBackend(connecting: { try ListFleet(sharing: $0) }, { try ListFleet() })
/// }
/// ```
///
/// ``FleetBackendRule`` lists the rules: values and keys (`values`, `keys`, `batches`, `timeToLive`), leases with fencing
/// tokens (`leases`, `tokens`, `renewal`, `answers`, `fencing`), invalidations in one order (`invalidations`,
/// `lateValues`, `epochs`, `listing`, `forgetting`), and what nodes hear (`messages`), also from several tasks and
/// connections (`concurrency`, `connections`), and in any order (`model`), until the end (`closing`).
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the backend breaks on purpose.
///   - limit: The longest time for the check of a rule, and for a message; nil for a minute, unless `.waitLimit(_:)` is set.
///   - sourceLocation: Where issues are reported.
///   - connect: Opens another connection to what a backend is connected to; with nil, the rule
///     ``FleetBackendRule/connections`` is not checked.
///   - pass: Returns when the clock of the backend has advanced by the duration; nil for the system's clock.
///   - make: Makes a backend without values, leases and invalidations. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of the closures.
public func checkFleetBackend<Backend: FleetBackend>(
  _ rules: some Sequence<FleetBackendRule> = FleetBackendRule.allCases,
  except exceptions: Set<FleetBackendRule> = [],
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  connecting connect: (@Sendable (Backend) async throws -> Backend)? = nil,
  passing pass: (@Sendable (Backend, Duration) async throws -> Void)? = nil,
  _ make: () async throws -> Backend
) async throws {
  for rule in rules where !exceptions.contains(rule) {
    let backend = try await make()
    let report = RuleReport("backend", rule: rule, within: limit, orWithin: .seconds(60), at: sourceLocation)
    let check = FleetBackendCheck(
      backend: backend,
      connect: connect,
      pass: pass ?? { try await Task.sleep(for: $1, clock: .continuous) },
      report: report
    )
    try await report.perform {
      let result = try await outcome(of: "the backend to answer", within: report.limit) {
        try await check.perform(rule)
      }
      switch result {
      case .success(let findings): for finding in findings { report.expect(false, finding) }
      case .failure(let error as CancellationError): throw error
      case .failure(let error): report.expect(false, "it threw \(error). Throw only what keeps it from answering.")
      }
    }
    // The check may have left the backend open.
    await backend.close()
  }
}

/// The check of one rule. Each method returns what is wrong, with the remedy.
struct FleetBackendCheck<Backend: FleetBackend>: Sendable {
  let backend: Backend
  let connect: (@Sendable (Backend) async throws -> Backend)?
  let pass: @Sendable (Backend, Duration) async throws -> Void
  let report: RuleReport

  func perform(_ rule: FleetBackendRule) async throws -> [String] {
    switch rule {
    case .values: try await self.checkValues()
    case .keys: try await self.checkKeys()
    case .batches: try await self.checkBatches() + self.checkLeaseBatches()
    case .timeToLive: try await self.checkTimeToLive()
    case .leases: try await self.checkLeases()
    case .tokens: try await self.checkTokens()
    case .renewal: try await self.checkRenewal()
    case .answers: try await self.checkAnswers()
    case .fencing: try await self.checkFencing()
    case .invalidations: try await self.checkInvalidations()
    case .lateValues: try await self.checkLateValues()
    case .epochs: try await self.checkEpochs()
    case .listing: try await self.checkListing()
    case .forgetting: try await self.checkForgetting()
    case .messages: try await self.checkMessages()
    case .concurrency: try await self.checkConcurrency()
    case .connections: try await self.checkConnections()
    case .model: try await self.checkModel()
    case .closing: await self.checkClosing()
    }
  }
}

// MARK: - Calls

extension FleetBackendCheck {
  static var hour: Duration { .seconds(3_600) }

  /// A key as nodes make it: a path of elements, and a name.
  func key(_ path: String, name: String = "value") -> FleetKey {
    var subjects = [FleetSubject("p")]
    var prefix = "p"
    for element in path.split(separator: "/") {
      prefix += "\(element)/"
      subjects.append(FleetSubject(prefix))
    }
    return FleetKey("\(prefix)=\(name)=1", subjects: subjects)
  }

  /// The subject of a path.
  func subject(_ path: String) -> FleetSubject { self.key(path).subjects.last ?? FleetSubject("p") }

  func acquire(
    _ key: FleetKey,
    _ owner: String = "a",
    for duration: Duration = Self.hour,
    knowing revision: Int64? = nil,
    at backend: Backend? = nil
  ) async throws -> FleetLeaseAnswer {
    let request = FleetLeaseRequest(key: key, owner: owner, duration: duration, knownRevision: revision)
    return try await (backend ?? self.backend).acquireLease(request)
  }

  /// Takes a lease that is free.
  func lease(
    _ key: FleetKey,
    _ owner: String = "a",
    for duration: Duration = Self.hour,
    knowing revision: Int64? = .max
  ) async throws -> (lease: FleetLease, epoch: FleetEpoch) {
    let answer = try await self.acquire(key, owner, for: duration, knowing: revision)
    guard case .granted(let lease, let epoch) = answer else {
      throw Finding("no node held the lease of \(key), and \"\(owner)\" got \(answer). Grant it.")
    }
    return (lease, epoch)
  }

  /// Stores a value under a new lease.
  @discardableResult
  func put(
    _ key: FleetKey,
    _ bytes: [UInt8] = [1],
    tags: [FleetSubject] = [],
    timeToLive: Duration = Self.hour
  ) async throws -> Int64 {
    let (lease, epoch) = try await self.lease(key)
    let write = FleetWrite(lease: lease, epoch: epoch, tags: tags, bytes: bytes, timeToLive: timeToLive)
    let answer = try await self.backend.store(write)
    guard case .stored(let revision) = answer else {
      throw Finding("a value of \(key) was stored under its lease, and the answer was \(answer). Store it.")
    }
    return revision
  }

  func value(_ key: FleetKey, at backend: Backend? = nil) async throws -> FleetValue? {
    try await (backend ?? self.backend).lookUp([key]).values.first ?? nil
  }

  func isFresh(_ key: FleetKey) async throws -> Bool { try await self.value(key) != nil }

  @discardableResult
  func invalidate(_ subjects: FleetSubject...) async throws -> FleetEpoch {
    try await self.backend.invalidate(subjects, by: "node")
  }
}

/// Something wrong that a check finds while it prepares.
struct Finding: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
