#if SwiftOperationPostgreSQL
  public import OperationCore
  public import OperationFleet

  /// The values, leases and invalidations of a fleet in a PostgreSQL database.
  ///
  /// ```swift
  /// let fleet = try PostgreSQLFleet(connection: "host=db.example dbname=app user=service")
  /// ```
  ///
  /// Values, leases and invalidations are in unlogged tables: a crash of the server empties them, and the fleet begins
  /// anew, with higher epochs and tokens. Nodes hear of changes by `LISTEN`, on a connection of its own. Leases and
  /// values end by the clock of the server. While the server does not answer, calls fail at once, and it is tried again
  /// after pauses that grow.
  public final class PostgreSQLFleet: FleetBackend {
    let pool: ConnectionPool
    private let listener: FleetListener
    private let statements: FleetStatements
    private let cleaner: FleetCleaner
    private let schema: SchemaName

    /// Makes the backend of a node. It does not connect yet.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq: `key=value` pairs, or an address that begins with `postgresql://`.
    ///   - listeningConnection: The connection string of the connection that listens; nil for the same one. A pooler
    ///     that shares sessions does not pass notifications on: behind one this is to be given, and goes around it.
    ///   - password: Called for the password of each new connection, in place of that of the string: for tokens that are valid for
    ///     a short time. It may take as long as a call. If it throws, it is called again after a pause.
    ///   - schema: The name of the schema, which is the name of the channel, too: one for each fleet.
    ///   - isMigrating: Whether it creates a missing schema and migrates an older one.
    ///   - maximumConnections: The largest number of connections at a time, besides the one that listens.
    ///   - maximumConnectionAge: How long a connection is used at most; nil for as long as it lasts. An older one is closed when
    ///     its next statement has ended, up to a tenth earlier, so that not all are opened again at once.
    ///   - timeout: How long a call may take, with the wait for a connection.
    ///   - maximumValues: The largest number of values in the fleet. Of more of them, those that end first are removed.
    ///   - maximumBytes: The largest size of all values, as the database stores them.
    /// - Throws: A `FleetError` with a ``PostgreSQLError`` as its cause, if a connection string or the name of the schema cannot
    ///   be used.
    public convenience init(
      connection: String,
      listeningConnection: String? = nil,
      password: (@Sendable () async throws -> String)? = nil,
      schema: String = "swift_operation",
      isMigrating: Bool = true,
      maximumConnections: Int = 4,
      maximumConnectionAge: Duration? = nil,
      timeout: Duration = .seconds(5),
      maximumValues: Int = 1_000_000,
      maximumBytes: Int = 4_000_000_000
    ) throws(FleetError) {
      var bounds = FleetBounds()
      bounds.maximumValues = Int64(max(maximumValues, 0))
      bounds.maximumBytes = Int64(max(maximumBytes, 0))
      try self.init(
        connection: connection,
        listeningConnection: listeningConnection,
        password: password,
        schema: schema,
        isMigrating: isMigrating,
        maximumConnections: maximumConnections,
        maximumConnectionAge: maximumConnectionAge,
        timeout: timeout,
        bounds: bounds
      )
    }

    init(
      connection: String,
      listeningConnection: String? = nil,
      password: (@Sendable () async throws -> String)? = nil,
      schema: String,
      isMigrating: Bool = true,
      maximumConnections: Int = 4,
      maximumConnectionAge: Duration? = nil,
      timeout: Duration = .seconds(5),
      bounds: FleetBounds,
      cleans: Bool = true
    ) throws(FleetError) {
      let deadlines = SystemDeadlineSource()
      let schema = try FleetError.translating { () throws(PostgreSQLError) in try SchemaName(schema) }
      let opening = try FleetError.translating { () throws(PostgreSQLError) in
        try ConnectionOpening(connection, password: password, deadlines: deadlines)
      }
      let listening = try FleetError.translating { () throws(PostgreSQLError) in
        try ConnectionOpening(listeningConnection ?? connection, password: password, deadlines: deadlines)
      }
      let statements = FleetStatements(schema)
      self.statements = statements
      self.schema = schema
      let pool = ConnectionPool(
        opening,
        maximumConnections: maximumConnections,
        timeout: timeout,
        maximumAge: maximumConnectionAge,
        isPatient: false,
        deadlines: deadlines
      ) { connection throws(PostgreSQLError) in
        let session = SchemaSession(connection: connection, schema: schema, timeout: timeout)
        try await session.begin(isMigrating: isMigrating)
        // After a crash of the server, which ends all connections, the first new one sets the clock.
        _ = try await connection.perform(statements.begin, within: timeout)
      }
      self.pool = pool
      self.cleaner = FleetCleaner(pause: bounds.pause, deadlines: deadlines) { [weak pool] in
        guard let pool else { return .failed }
        return await Self.cleanUp(pool, statements, bounds)
      }
      if !cleans { self.cleaner.close() }
      self.listener = FleetListener(
        listening,
        schema: schema,
        hasOwnAddress: listeningConnection != nil,
        timeout: timeout,
        deadlines: deadlines
      )
    }

    public func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
      defer { self.cleaner.start() }
      return self.listener.add(handler)
    }

    public var messagesFailure: FleetError? { self.listener.failure.map { FleetError($0) } }

    /// The connections now, and whether one listens, for logs, status pages and gauges.
    public func snapshot() -> PostgreSQLSnapshot {
      self.pool.snapshot(
        "PostgreSQLFleet \(self.schema)",
        isListening: self.listener.isListening,
        listenerFailure: self.listener.failure?.message
      )
    }

    nonisolated(nonsending) public func close() async {
      self.cleaner.close()
      self.listener.close()
      self.pool.close()
    }

    nonisolated(nonsending) func perform(
      _ statement: Statement,
      _ parameters: [QueryValue]
    ) async throws -> [QueryRow] {
      do throws(PostgreSQLError) {
        return try await self.pool.perform(statement, parameters)
      } catch {
        if error.code == .cancelled { throw CancellationError() }
        throw FleetError(error)
      }
    }

    /// Removes what is not needed any more, if that is due.
    nonisolated(nonsending) static func cleanUp(
      _ pool: ConnectionPool,
      _ statements: FleetStatements,
      _ bounds: FleetBounds
    ) async -> FleetCleaner.Step {
      // What it does not remove now is removed later.
      guard let row = try? await pool.perform(statements.cleanUp, bounds.parameters).first else { return .failed }
      if row.integer(0) == nil { return .notDue }
      return row.boolean(1) == true ? .hasMore : .done
    }
  }

  // MARK: - Values and leases

  extension PostgreSQLFleet {
    nonisolated(nonsending) public func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup {
      let rows = try await self.performWithClock(self.statements.lookUp, [.byteArray(keys.map(\.bytes))])
      let values = rows.map { row -> FleetValue? in
        guard let bytes = row.bytes(1) else { return nil }
        return FleetValue(bytes, revision: row.integer(2), epoch: row.integer(3), age: row.integer(4))
      }
      return FleetLookup(values: values, epoch: FleetEpoch(rawValue: rows.first?.integer(0) ?? 0))
    }

    nonisolated(nonsending) public func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
      try await self.acquireLeases([request])[0]
    }

    nonisolated(nonsending)
      public func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer]
    {
      let rows = try await self.perform(
        self.statements.acquireLeases,
        [
          .byteArray(requests.map(\.key.bytes)), .byteArray(requests.map { Array($0.owner.utf8) }),
          .integerArray(requests.map(\.duration.microseconds)), .integerArray(requests.map { $0.knownRevision ?? -1 }),
        ]
      )
      var answers = [FleetLeaseAnswer?](repeating: nil, count: requests.count)
      for row in rows {
        guard let place = row.integer(0).map({ Int($0) - 1 }), requests.indices.contains(place) else { continue }
        answers[place] = FleetLeaseAnswer(row, to: requests[place])
      }
      return try answers.map { answer in
        guard let answer else { throw FleetError.noAnswer }
        return answer
      }
    }

    nonisolated(nonsending) public func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
      let parameters = lease.parameters + [.integer(duration.microseconds)]
      return try await !self.perform(self.statements.renewLease, parameters).isEmpty
    }

    nonisolated(nonsending) public func releaseLease(_ lease: FleetLease) async throws {
      _ = try await self.perform(self.statements.releaseLease, lease.parameters)
      self.cleaner.start()
    }

    nonisolated(nonsending) public func store(_ write: FleetWrite) async throws -> FleetWriteAnswer {
      let key = write.lease.key
      let subjects = Set((key.subjects + write.tags).map(\.bytes))
      let rows = try await self.perform(
        self.statements.store,
        [
          .bytes(key.bytes), .byteArray(Array(subjects)), .bytes(Array(write.lease.owner.utf8)),
          .integer(write.lease.token), .integer(write.epoch.rawValue), .bytes(write.bytes),
          .integer(write.timeToLive.microseconds), .boolean(write.isAnnounced),
        ]
      )
      guard let number = rows.first?.integer(0) else { throw FleetError.noAnswer }
      self.cleaner.start()
      switch number {
      case 0: return .leaseEnded
      case ..<0: return .invalidated
      default: return .stored(revision: number)
      }
    }
  }

  // MARK: - Invalidations

  extension PostgreSQLFleet {
    nonisolated(nonsending) public func invalidate(
      _ subjects: [FleetSubject],
      by node: String
    ) async throws -> FleetEpoch {
      let rows = try await self.perform(
        self.statements.invalidate,
        [.byteArray(subjects.map(\.bytes)), .text(node.withoutNullCharacters)]
      )
      guard let epoch = rows.first?.integer(0) else { throw FleetError.noAnswer }
      self.cleaner.start()
      return FleetEpoch(rawValue: epoch)
    }

    nonisolated(nonsending) public func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
      let limit = FleetLimits.invalidations
      let rows = try await self.performWithClock(
        self.statements.invalidations,
        [.integer(epoch.rawValue), .integer(Int64(limit) + 1)]
      )
      let now = FleetEpoch(rawValue: rows.first?.integer(0) ?? 0)
      if rows.first?.boolean(1) == true || rows.count > limit { return .everything(upTo: now) }
      let invalidations = rows.compactMap { row -> FleetInvalidation? in
        guard let subject = row.text(2), let epoch = row.integer(3) else { return nil }
        return FleetInvalidation(
          of: FleetSubject(subject),
          epoch: FleetEpoch(rawValue: epoch),
          by: row.text(4) ?? ""
        )
      }
      return .listed(invalidations, upTo: now)
    }

    /// Makes a statement that has no row if the clock was not set since a crash, then sets it and makes it again.
    nonisolated(nonsending) private func performWithClock(
      _ statement: Statement,
      _ parameters: [QueryValue]
    ) async throws -> [QueryRow] {
      let rows = try await self.perform(statement, parameters)
      if !rows.isEmpty { return rows }
      _ = try await self.perform(self.statements.begin, [])
      let again = try await self.perform(statement, parameters)
      if again.isEmpty { throw FleetError.noAnswer }
      return again
    }
  }

  // MARK: - Parameters

  extension FleetKey {
    fileprivate var bytes: [UInt8] { Array(self.text.utf8) }
  }

  extension FleetSubject {
    fileprivate var bytes: [UInt8] { Array(self.text.utf8) }
  }

  extension FleetLease {
    fileprivate var parameters: [QueryValue] {
      [.bytes(Array(self.key.text.utf8)), .bytes(Array(self.owner.utf8)), .integer(self.token)]
    }
  }

  extension FleetLeaseAnswer {
    /// The answer of a row; nil for one that is not as this library expects it.
    fileprivate init?(_ row: QueryRow, to request: FleetLeaseRequest) {
      guard let epoch = row.integer(1).map({ FleetEpoch(rawValue: $0) }) else { return nil }
      if let token = row.integer(2) {
        self = .granted(FleetLease(key: request.key, owner: request.owner, token: token), epoch: epoch)
      } else if let bytes = row.bytes(5) {
        let value = FleetValue(bytes, revision: row.integer(6), epoch: row.integer(7), age: row.integer(8))
        self = .fresh(value, epoch: epoch)
      } else {
        self = .heldByAnother(owner: row.text(3) ?? "", remaining: .microseconds(row.integer(4) ?? 0))
      }
    }
  }

  extension FleetValue {
    fileprivate init(_ bytes: [UInt8], revision: Int64?, epoch: Int64?, age: Int64?) {
      self.init(
        bytes: bytes,
        revision: revision ?? 0,
        epoch: FleetEpoch(rawValue: epoch ?? 0),
        age: .microseconds(age ?? 0)
      )
    }
  }

  extension FleetError {
    fileprivate static var noAnswer: Self {
      Self(code: .failed, message: "The database has answered without a row. Migrate its schema again.")
    }
  }

  extension Duration {
    /// For intervals of PostgreSQL, rounded up, and never negative.
    var microseconds: Int64 { Int64((self.clampedForClock.seconds * 1e6).rounded(.up)) }
  }

  extension String {
    /// The text as PostgreSQL accepts it.
    fileprivate var withoutNullCharacters: String {
      String(self.unicodeScalars.filter { $0 != "\0" }.map(Character.init))
    }
  }
#endif
