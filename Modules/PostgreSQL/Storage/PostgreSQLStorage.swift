#if SwiftOperationPostgreSQL
  internal import OperationCore
  public import OperationPersistence
  internal import Synchronization

  /// A storage in a PostgreSQL database, which any number of processes and machines can share.
  ///
  /// ```swift
  /// let storage = try PostgreSQLStorage(connection: "host=db.example dbname=app user=service")
  /// client.defaultContext.operationStorage = storage
  /// ```
  ///
  /// It connects with its first call, and connects again by itself when the server was away. A batch is one transaction
  /// of the server: it is on its disk when `apply(_:)` returns, unless the server is configured otherwise or the batch only
  /// removes values, and it is made once also if the connection breaks at that moment. Leases end by the clock of the server.
  public final class PostgreSQLStorage: PersistentStorage {
    /// The largest number of bytes of a value: 32,000,000.
    ///
    /// A value is one parameter of a statement, which has to arrive within the time-out. Store larger ones elsewhere, such as in
    /// files, and their names here.
    public static let maximumValueSize = 32_000_000

    /// How many batches are applied between two steps of cleaning up.
    private static let cleanUpInterval = 200

    let pool: ConnectionPool
    private let name: String
    private let schema: SchemaName
    private let statements: StorageStatements
    private let uses: UseCount
    private let batchCount = Atomic(0)
    private let foreignChanges = Locked(ForeignChanges())
    private let compared = Locked(ComparedEntries())

    /// Makes a storage. It does not connect yet.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq: `key=value` pairs, or an address that begins with `postgresql://`.
    ///   - password: Called for the password of each new connection, in place of that of the string: for tokens that are valid for
    ///     a short time. It may take as long as a call. If it throws, it is called again after a pause.
    ///   - schema: The name of the schema that it uses.
    ///   - isMigrating: Whether it creates a missing schema and migrates an older one.
    ///   - maximumConnections: The largest number of connections at a time.
    ///   - maximumConnectionAge: How long a connection is used at most; nil for as long as it lasts. An older one is closed when
    ///     its next statement has ended, up to a tenth earlier, so that not all are opened again at once.
    ///   - timeout: How long a call may take, with the wait for a connection.
    /// - Throws: A `StorageError` with a ``PostgreSQLError`` as its cause, if the connection string or the name of the schema
    ///   cannot be used.
    public convenience init(
      connection: String,
      password: (@Sendable () async throws -> String)? = nil,
      schema: String = "swift_operation",
      isMigrating: Bool = true,
      maximumConnections: Int = 4,
      maximumConnectionAge: Duration? = nil,
      timeout: Duration = .seconds(5)
    ) throws(StorageError) {
      try self.init(
        connection: connection,
        password: password,
        schema: schema,
        isMigrating: isMigrating,
        maximumConnections: maximumConnections,
        maximumConnectionAge: maximumConnectionAge,
        timeout: timeout,
        deadlines: .system
      )
    }

    init(
      connection: String,
      password: (@Sendable () async throws -> String)? = nil,
      schema: String,
      isMigrating: Bool,
      maximumConnections: Int,
      maximumConnectionAge: Duration? = nil,
      timeout: Duration,
      deadlines: any DeadlineSource
    ) throws(StorageError) {
      let schema = try StorageError.translating { () throws(PostgreSQLError) in try SchemaName(schema) }
      let opening = try StorageError.translating { () throws(PostgreSQLError) in
        try ConnectionOpening(connection, password: password, deadlines: deadlines)
      }
      self.schema = schema
      self.name = opening.name.text
      self.statements = StorageStatements(schema)
      self.uses = UseCount(name: opening.name.text)
      self.pool = ConnectionPool(
        opening,
        maximumConnections: maximumConnections,
        timeout: timeout,
        maximumAge: maximumConnectionAge,
        deadlines: deadlines
      ) { connection throws(PostgreSQLError) in
        try await SchemaSession(connection: connection, schema: schema, timeout: timeout).begin(
          isMigrating: isMigrating
        )
      }
    }

    /// The connections now, for logs, status pages and gauges.
    public func snapshot() -> PostgreSQLSnapshot { self.pool.snapshot("PostgreSQLStorage \(self.schema)") }

    nonisolated(nonsending) public func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      try await self.perform(self.statements.entries, StorageStatements.parameters(ofPrefix: prefix))
        .map { row in StorageEntry(key: row.text(0) ?? "", value: row.bytes(1) ?? []) }
    }

    nonisolated(nonsending) public func sizes(withPrefix prefix: String) async throws -> [StorageEntrySize] {
      try await self.perform(self.statements.sizes, StorageStatements.parameters(ofPrefix: prefix))
        .map { row in StorageEntrySize(key: row.text(0) ?? "", byteCount: row.integer(1).map { Int($0) } ?? 0) }
    }

    nonisolated(nonsending) public func apply(_ batch: [StorageChange]) async throws {
      _ = try await self.apply(batch, if: [])
    }

    nonisolated(nonsending) public func apply(
      _ batch: [StorageChange],
      if conditions: [StorageCondition]
    ) async throws -> StorageOutcome {
      try Self.check(batch)
      let changes = BatchChanges(batch)
      if batch.isEmpty, conditions.isEmpty {
        try self.uses.check()
        return .made
      }
      let compared = conditions.map { Array($0.key.utf8) }
      while true {
        let known = self.compared.withLock { $0.writers(of: conditions) }
        let comparison =
          if let known { Comparison.holds(known) } else { try await self.writers(of: conditions, compared) }
        switch comparison {
        case .refused(let condition): return .refused(condition)
        case .holds(let writers):
          if try await self.apply(changes, comparing: compared, writers) {
            self.compared.withLock { $0.note(conditions, writers, heldFor: batch) }
            await self.cleanUp()
            return .made
          }
        }
        // One of them was written since. It is read again, because its content may be the same.
        self.compared.withLock { $0.forget(conditions) }
      }
    }

    /// Applies a batch if entries were written by certain transactions. Returns whether it was applied.
    private nonisolated(nonsending) func apply(
      _ changes: BatchChanges,
      comparing keys: [[UInt8]],
      _ writers: [Int64]
    ) async throws -> Bool {
      let parameters =
        changes.parameters + [.byteArray(keys), .integerArray(writers), .boolean(changes.removesOthersThanValues)]
      // It is not cancelled: whether it was made would not be known then.
      let rows = try await self.perform(self.statements.apply, parameters, isCancellable: false)
      guard rows.first?.integer(0) == 0 else { return false }
      let made = rows.dropFirst().map { row in
        ForeignChanges.Change(prefix: row.bytes(1) ?? [], stripe: row.integer(2) ?? 0, before: row.bytes(3))
      }
      self.foreignChanges.withLock { $0.note(made, madeBy: changes.id) }
      return true
    }

    /// - Throws: A `StorageError` for a value that is too large.
    private static func check(_ batch: [StorageChange]) throws {
      for case .put(let key, let value) in batch where value.count > self.maximumValueSize {
        throw StorageError(
          code: .failed,
          message: """
            The value with the key \(key.prefix(80)) has \(value.count) bytes, and PostgreSQLStorage takes up to \
            \(self.maximumValueSize). Store it in a file, and the name of the file here.
            """
        )
      }
    }

    /// Reads the entries that conditions name, and compares them.
    ///
    /// - Returns: Who has written them, or the first condition that does not hold.
    private nonisolated(nonsending) func writers(
      of conditions: [StorageCondition],
      _ keys: [[UInt8]]
    ) async throws -> Comparison {
      var writers = [Int64](repeating: 0, count: keys.count)
      var versions = [StorageVersion?](repeating: nil, count: keys.count)
      for row in try await self.perform(self.statements.compared, [.byteArray(keys)]) {
        guard let index = row.integer(0).map({ Int($0) - 1 }), keys.indices.contains(index) else { continue }
        versions[index] = StorageVersion(of: row.bytes(1) ?? [], at: conditions[index].key)
        writers[index] = row.integer(2) ?? 0
      }
      for (condition, version) in zip(conditions, versions) where version != condition.version {
        return .refused(condition)
      }
      return .holds(writers)
    }

    private enum Comparison {
      /// The transactions that have written the entries, 0 for those that are absent.
      case holds([Int64])
      case refused(StorageCondition)
    }

    private nonisolated(nonsending) func cleanUp() async {
      let count = self.batchCount.wrappingAdd(1, ordering: .relaxed).newValue
      guard count.isMultiple(of: Self.cleanUpInterval) else { return }
      // What it does not remove now is removed later, and the batch was made.
      _ = try? await self.perform(self.statements.cleanUp, [])
    }

    nonisolated(nonsending) public func close() async {
      await self.uses.close()
      self.pool.close()
    }

    private nonisolated(nonsending) func perform(
      _ statement: Statement,
      _ parameters: [QueryValue],
      isCancellable: Bool = true
    ) async throws -> [QueryRow] {
      try self.uses.begin()
      defer { self.uses.end() }
      do throws(PostgreSQLError) {
        return try await self.pool.perform(statement, parameters, isCancellable: isCancellable)
      } catch {
        if error.code == .cancelled { throw CancellationError() }
        throw StorageError(error)
      }
    }
  }

  extension PostgreSQLStorage: LeasingStorage {
    nonisolated(nonsending) public func acquireLease(
      _ name: String,
      owner: String,
      for duration: Duration
    ) async throws -> StorageLease {
      while true {
        let row = try await self.perform(
          self.statements.acquireLease,
          [.bytes(Array(name.utf8)), .bytes(Array(owner.utf8)), .integer(duration.microseconds)]
        ).first
        guard let remaining = row?.integer(0) else { return .held }
        guard let other = row?.text(1), LeaseOwner.hasEnded(other) else {
          return .heldByAnother(remaining: .microseconds(remaining))
        }
        // It has no effect if another owner has taken the lease since.
        try await self.releaseLease(name, owner: other)
      }
    }

    nonisolated(nonsending) public func numberOfForeignChanges(withPrefix prefix: String) async throws -> Int64? {
      guard let prefix = ForeignChanges.prefix(of: prefix) else { return nil }
      var batches: [Int64: [UInt8]] = [:]
      for row in try await self.perform(self.statements.changes, [.bytes(prefix)]) {
        batches[row.integer(0) ?? 0] = row.bytes(1)
      }
      return self.foreignChanges.withLock { [batches] in $0.note(batches, of: prefix) }
    }

    nonisolated(nonsending) public func releaseLease(_ name: String, owner: String) async throws {
      _ = try await self.perform(
        self.statements.releaseLease,
        [.bytes(Array(name.utf8)), .bytes(Array(owner.utf8))]
      )
    }
  }
#endif
