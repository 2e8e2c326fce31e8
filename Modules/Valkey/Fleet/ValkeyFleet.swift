#if SwiftOperationValkey
  public import OperationCore
  public import OperationFleet

  /// The values, leases and invalidations of a fleet on a Valkey or Redis server.
  ///
  /// ```swift
  /// let fleet = try ValkeyFleet(connection: "redis://service:secret@cache.example:6379")
  /// ```
  ///
  /// Each call is one script, which the server runs in one step. Nodes hear of changes by publish and subscribe, on a
  /// connection of its own. Leases and values end by the clock of the server. A server that starts again, another one that
  /// takes its place, `FLUSHALL`, and the eviction of what decides on freshness each begin the fleet anew, with higher epochs
  /// and tokens: nothing from before is fresh then. While the server does not answer, calls fail at once, and it is tried
  /// again after pauses that grow.
  public final class ValkeyFleet: FleetBackend {
    private let caller: FleetCaller
    private let listener: FleetListener
    private let keys: FleetKeys
    private let maximumInvalidations: Int64

    /// Makes the backend of a node. It does not connect yet.
    ///
    /// - Parameters:
    ///   - connection: `redis://user:password@host:6379/0`, with `valkey` for `redis` if you like, several hosts with commas
    ///     between them; with `rediss` or `valkeys` for TLS; or `unix:///path/of/socket?db=0`. Other characters than letters
    ///     and digits in a password are written as in an address: `%40` for `@`.
    ///   - listeningConnection: The connection string of the connection that listens; nil for the same one.
    ///   - password: Called for the password of each new connection, in place of that of the string: for tokens that are valid for
    ///     a short time. The user is that of the string. It may take as long as a call. If it throws, it is called again after a
    ///     pause.
    ///   - tls: Whom connections with TLS trust. By default, the authorities of the system.
    ///   - prefix: What the names of all keys and of the channel begin with: one for each fleet.
    ///   - maximumConnectionAge: How long the connection for calls is used at most; nil for as long as it lasts. Then another one
    ///     is opened with the next call, up to a tenth earlier, so that not all processes do so at once. The older one is closed
    ///     when its calls have ended.
    ///   - timeout: How long opening a connection may take, and how long an answer; then the connection is closed. A node
    ///     itself leaves a call after its `lookupTimeout`.
    /// - Throws: A `FleetError` with a ``ValkeyError`` as its cause, if a connection string, the prefix or a file of `tls` cannot
    ///   be used.
    public convenience init(
      connection: String,
      listeningConnection: String? = nil,
      password: (@Sendable () async throws -> String)? = nil,
      tls: ValkeyTLS = ValkeyTLS(),
      prefix: String = "swift_operation",
      maximumConnectionAge: Duration? = nil,
      timeout: Duration = .seconds(5)
    ) throws(FleetError) {
      let deadlines = SystemDeadlineSource()
      let (opening, listening, keys) = try FleetError.translating { () throws(ValkeyError) in
        let (address, other) = (try ServerAddress(connection), try ServerAddress(listeningConnection ?? connection))
        return (
          try ConnectionOpening(address, password: password, tls: tls, deadlines: deadlines),
          try ConnectionOpening(other, password: password, tls: tls, deadlines: deadlines),
          try FleetKeys(prefix: prefix, database: address.database)
        )
      }
      self.init(
        opening,
        listening: listening,
        keys: keys,
        timeout: timeout,
        maximumConnectionAge: maximumConnectionAge,
        deadlines: deadlines
      )
    }

    /// - Parameters:
    ///   - opening: Opens the connection for calls.
    ///   - listening: Opens the connection that listens.
    ///   - keys: The names of the keys.
    ///   - timeout: How long opening a connection may take, and how long an answer.
    ///   - maximumConnectionAge: How long the connection for calls is used at most.
    ///   - deadlines: The source of time limits.
    ///   - maximumInvalidations: How many subjects are kept; of more, the oldest are forgotten.
    init(
      _ opening: ConnectionOpening,
      listening: ConnectionOpening,
      keys: FleetKeys,
      timeout: Duration,
      maximumConnectionAge: Duration? = nil,
      deadlines: any DeadlineSource,
      maximumInvalidations: Int = 200_000
    ) {
      self.caller = FleetCaller(
        opening,
        keys: keys,
        timeout: timeout,
        maximumAge: maximumConnectionAge,
        deadlines: deadlines
      )
      self.listener = FleetListener(listening, channel: keys.channel, timeout: timeout, deadlines: deadlines)
      self.keys = keys
      self.maximumInvalidations = Int64(maximumInvalidations)
    }

    public func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
      self.listener.add(handler)
    }

    public var messagesFailure: FleetError? { self.listener.failure.map { FleetError($0) } }

    /// The connections now, for logs, status pages and gauges.
    public func snapshot() -> ValkeySnapshot {
      var snapshot = self.caller.snapshot("ValkeyFleet \(self.keys.prefix)")
      snapshot.isListening = self.listener.isListening
      snapshot.listenerFailure = self.listener.failure?.message
      return snapshot
    }

    nonisolated(nonsending) public func close() async {
      self.listener.close()
      self.caller.close()
    }
  }

  // MARK: - Values and leases

  extension ValkeyFleet {
    nonisolated(nonsending) public func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup {
      try await self.caller.call(.lookUp, keys: keys.map { self.keys.value($0.text) }) { _ in
      } reading: { answer in
        guard answer.rest.count == keys.count else { return nil }
        let values = answer.rest.map { FleetValue($0) }
        return (FleetLookup(values: values, epoch: answer.epoch), number: values.map { $0?.revision ?? 0 }.max() ?? 0)
      }
    }

    nonisolated(nonsending) public func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
      try await self.acquireLeases([request])[0]
    }

    nonisolated(nonsending)
      public func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer]
    {
      let keys = requests.flatMap { [self.keys.lease($0.key.text), self.keys.value($0.key.text)] }
      return try await self.caller.call(.acquireLeases, keys: keys) {
        for request in requests {
          $0.append(request.owner)
          $0.append(request.duration.milliseconds)
          $0.append(request.knownRevision ?? -1)
        }
      } reading: { answer in
        guard answer.rest.count == requests.count else { return nil }
        var (answers, number): ([FleetLeaseAnswer], Int64) = ([], 0)
        for (reply, request) in zip(answer.rest, requests) {
          guard let (next, nextNumber) = FleetLeaseAnswer.read(reply, to: request, at: answer.epoch) else { return nil }
          answers.append(next)
          number = max(number, nextNumber)
        }
        return (answers, number)
      }
    }

    nonisolated(nonsending) public func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
      try await self.caller.call(.renewLease, keys: [self.keys.lease(lease.key.text)]) {
        $0.append(lease)
        $0.append(duration.milliseconds)
      } reading: { answer in
        answer.rest.first?.integer.map { ($0 == 1, number: 0) }
      }
    }

    nonisolated(nonsending) public func releaseLease(_ lease: FleetLease) async throws {
      try await self.caller.call(.releaseLease, keys: [self.keys.lease(lease.key.text)]) {
        $0.append(lease)
        $0.append(lease.key.text)
      } reading: { _ in
        ((), number: 0)
      }
    }

    nonisolated(nonsending) public func store(_ write: FleetWrite) async throws -> FleetWriteAnswer {
      let key = write.lease.key
      return try await self.caller.call(.store, keys: [self.keys.lease(key.text), self.keys.value(key.text)]) {
        $0.append(write.lease)
        $0.append(write.epoch.rawValue)
        $0.append(write.timeToLive.milliseconds)
        $0.append(write.isAnnounced ? 1 : 0)
        $0.append(key.text)
        $0.append(write.bytes)
        for subject in key.subjects + write.tags { $0.append(subject.text) }
      } reading: { answer in
        switch answer.rest.first?.integer {
        case nil: nil
        case 0: (.leaseEnded, number: 0)
        case -1: (.invalidated, number: 0)
        case let revision?: (.stored(revision: revision), number: revision)
        }
      }
    }
  }

  // MARK: - Invalidations

  extension ValkeyFleet {
    nonisolated(nonsending) public func invalidate(
      _ subjects: [FleetSubject],
      by node: String
    ) async throws -> FleetEpoch {
      try await self.caller.call(.invalidate) {
        $0.append(node)
        $0.append(self.maximumInvalidations)
        for subject in subjects { $0.append(subject.text) }
      } reading: { answer in
        (answer.epoch, number: 0)
      }
    }

    nonisolated(nonsending) public func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
      try await self.caller.call(.invalidations) {
        $0.append(epoch.rawValue)
        $0.append(Int64(FleetLimits.invalidations))
      } reading: { answer in
        guard let isAll = answer.rest.first?.integer, answer.rest.count % 3 == 1 else { return nil }
        if isAll == 1 { return (.everything(upTo: answer.epoch), number: 0) }
        var invalidations: [FleetInvalidation] = []
        for place in stride(from: 1, to: answer.rest.count, by: 3) {
          guard let subject = answer.rest[place].text, let epoch = answer.rest[place + 1].integer,
            let node = answer.rest[place + 2].text
          else { return nil }
          invalidations.append(
            FleetInvalidation(of: FleetSubject(subject), epoch: FleetEpoch(rawValue: epoch), by: node)
          )
        }
        return (.listed(invalidations, upTo: answer.epoch), number: 0)
      }
    }
  }

  // MARK: - Arguments and answers

  extension Request {
    /// Appends the owner and the token.
    fileprivate mutating func append(_ lease: FleetLease) {
      self.append(lease.owner)
      self.append(lease.token)
    }
  }

  extension FleetLeaseAnswer {
    /// Reads the answer to a request, and the token or the revision in it; nil for an answer of another kind.
    fileprivate static func read(
      _ reply: Reply,
      to request: FleetLeaseRequest,
      at epoch: FleetEpoch
    ) -> (Self, number: Int64)? {
      guard let parts = reply.array, parts.count >= 2 else { return nil }
      switch (parts[0].integer, parts.count) {
      case (0, 2):
        guard let token = parts[1].integer else { return nil }
        return (.granted(FleetLease(key: request.key, owner: request.owner, token: token), epoch: epoch), number: token)
      case (1, 2):
        guard let value = FleetValue(parts[1]) else { return nil }
        return (.fresh(value, epoch: epoch), number: value.revision)
      case (2, 3):
        guard let owner = parts[1].text, let remaining = parts[2].integer else { return nil }
        return (.heldByAnother(owner: owner, remaining: .milliseconds(remaining)), number: 0)
      default: return nil
      }
    }
  }

  extension FleetValue {
    /// The value of an answer: its bytes, revision, epoch and age; nil for none.
    fileprivate init?(_ reply: Reply) {
      guard let parts = reply.array, parts.count == 4, let bytes = parts[0].bytes, let revision = parts[1].integer,
        let epoch = parts[2].integer, let age = parts[3].integer
      else { return nil }
      self.init(bytes: bytes, revision: revision, epoch: FleetEpoch(rawValue: epoch), age: .microseconds(age))
    }
  }

  extension Duration {
    /// For the times of keys, rounded up, and never negative.
    fileprivate var milliseconds: Int64 { Int64((self.clampedForClock.seconds * 1_000).rounded(.up)) }
  }
#endif
