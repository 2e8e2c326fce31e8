#if SwiftOperationSQLite
  internal import Dispatch
  internal import GRDB
  internal import OperationCore
  public import OperationPersistence
  internal import Synchronization

  /// A storage in an SQLite database: one file, with its write-ahead log next to it.
  ///
  /// ```swift
  /// let storage = try SQLiteStorage(path: "/var/lib/notes/state.sqlite")
  /// client.defaultContext.operationStorage = storage
  /// ```
  ///
  /// Any number of processes may open one file. One of them writes at a time, and the others wait for it, up to the
  /// busy time-out. Batches that are applied while another one is being written are committed together, with one write
  /// to the disk, and each of them succeeds or fails by itself.
  ///
  /// A batch that puts an entry is on the disk when `apply(_:)` returns (`synchronous = FULL`). A batch that only
  /// removes entries survives the end of the process, and is on the disk with the next batch that puts one.
  public final class SQLiteStorage: PersistentStorage {
    /// The path of the file.
    public let path: String

    let database: DatabasePool
    let batches: BatchQueue
    private let leases: LeaseTable
    private let leaseQueue = DispatchQueue(label: "swift-operation.sqlite-leases")
    private let readers = DispatchQueue(label: "swift-operation.sqlite-readers", attributes: .concurrent)
    private let state = Mutex(State())
    private let use: Locked<UsedFile?>

    private struct State: Sendable {
      var isClosed = false
      var readCount = 0
      var closing: [UnsafeContinuation<Void, Never>] = []
    }

    /// Opens a database, and creates it if there is none. An older schema is migrated.
    ///
    /// It waits for other processes that are opening the file, so call it at the start of the program.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Its folder must exist and be writable, as SQLite adds files next to it.
    ///   - busyTimeout: How long to wait for another process that writes.
    /// - Throws: A ``/OperationPersistence/StorageError`` if the file is no database, belongs to another program, has a
    ///   newer schema or cannot be opened. The file is then left as it is. The error names the path and the remedy.
    public convenience init(path: String, busyTimeout: Duration = .seconds(5)) throws(StorageError) {
      try self.init(path: path, busyTimeout: busyTimeout, clock: .ofMachine)
    }

    /// Opens a database whose leases end by a clock.
    package init(path: String, busyTimeout: Duration = .seconds(5), clock: LeaseClock) throws(StorageError) {
      self.path = path
      self.leases = LeaseTable(clock: clock)
      let opening = DatabaseOpening(path: path, busyTimeout: busyTimeout)
      let opened = try opening.open()
      self.database = opened.database
      self.use = Locked(opened.use)
      self.batches = BatchQueue(database: self.database, path: path)
      self.report(opened.reports)
    }

    nonisolated(nonsending) public func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      try self.begin()
      defer { self.end() }
      return try await self.perform(on: self.readers) { database in
        try database.read { try EntryTable.entries(withPrefix: prefix, in: $0) }
      }
    }

    nonisolated(nonsending) public func sizes(withPrefix prefix: String) async throws -> [StorageEntrySize] {
      try self.begin()
      defer { self.end() }
      return try await self.perform(on: self.readers) { database in
        try database.read { try EntryTable.sizes(withPrefix: prefix, in: $0) }
      }
    }

    nonisolated(nonsending) public func apply(_ batch: [StorageChange]) async throws {
      _ = try await self.apply(batch, if: [])
    }

    nonisolated(nonsending) public func apply(
      _ batch: [StorageChange],
      if conditions: [StorageCondition]
    ) async throws -> StorageOutcome {
      try self.begin()
      defer { self.end() }
      if batch.isEmpty, conditions.isEmpty { return .made }
      if let key = batch.first(where: { $0.key.hasNull })?.key ?? conditions.first(where: { $0.key.hasNull })?.key {
        throw StorageError(
          code: .failed,
          message: "The key \(key.debugDescription) has a null character, which ends a text in SQLite. Escape it."
        )
      }
      return try await self.batches.apply(batch, if: conditions)
    }

    /// Empties the write-ahead log, which has the earlier contents of the pages. The file has been overwritten.
    nonisolated(nonsending) public func overwriteRemovedEntries() async throws {
      try self.begin()
      defer { self.end() }
      try await self.batches.emptyLog()
    }

    nonisolated(nonsending) public func close() async {
      await withUnsafeContinuation { continuation in
        let isIdle = self.state.withLock { state in
          state.isClosed = true
          guard state.readCount > 0 else { return true }
          state.closing.append(continuation)
          return false
        }
        if isIdle { continuation.resume() }
      }
      // The last connection that is closed empties the log, which one that only reads cannot do.
      self.database.invalidateReadOnlyConnections()
      // Closing throws if a connection is in use, which none is here.
      try? self.database.close()
      self.batches.keepReserveAfterClosing()
      self.use.withLock { $0 = nil }
    }

    /// Waits until nothing is to be written, and no unused page to be given back.
    package nonisolated(nonsending) func settled() async { await self.batches.settled() }

    /// Reports that the file was damaged, once. If the process ends before, the next storage reports it again.
    private func report(_ messages: [String]) {
      if messages.isEmpty { return }
      for message in messages {
        OperationWarning(code: .storageDamaged, severity: .failure, message: message).report()
      }
      try? self.database.write { try $0.execute(sql: "DELETE FROM report") }
    }

    /// Runs a body on a queue, because it blocks its thread.
    private nonisolated(nonsending) func perform<R: Sendable>(
      on queue: DispatchQueue,
      _ body: @escaping @Sendable (DatabasePool) throws -> R
    ) async throws(StorageError) -> R {
      let result: Result<R, StorageError> = await withUnsafeContinuation { continuation in
        queue.async { [database = self.database, path = self.path] in
          continuation.resume(
            returning: Result { () throws(StorageError) in
              try StorageError.translating(path) { try body(database) }
            }
          )
        }
      }
      return try result.get()
    }

    private func begin() throws(StorageError) {
      try self.state.withLock { state throws(StorageError) in
        if state.isClosed { throw .closed(self.path) }
        state.readCount += 1
      }
    }

    private func end() {
      let closing = self.state.withLock { state -> [UnsafeContinuation<Void, Never>] in
        state.readCount -= 1
        guard state.readCount == 0 else { return [] }
        defer { state.closing = [] }
        return state.closing
      }
      for continuation in closing { continuation.resume() }
    }
  }

  extension String {
    /// Whether it has a null character.
    fileprivate var hasNull: Bool {
      var text = self
      return text.withUTF8 { $0.contains(0) }
    }
  }

  extension SQLiteStorage: LeasingStorage {
    nonisolated(nonsending) public func acquireLease(
      _ name: String,
      owner: String,
      for duration: Duration
    ) async throws -> StorageLease {
      try self.begin()
      defer { self.end() }
      return try await self.perform(on: self.leaseQueue) { [leases = self.leases, batches = self.batches] _ in
        var lease = StorageLease.held
        try batches.writeLease { lease = try leases.acquire(name, owner: owner, for: duration, in: $0) }
        return lease
      }
    }

    nonisolated(nonsending) public func releaseLease(_ name: String, owner: String) async throws {
      try self.begin()
      defer { self.end() }
      try await self.perform(on: self.leaseQueue) { [leases = self.leases, batches = self.batches] _ in
        try batches.writeLease { try leases.release(name, owner: owner, in: $0) }
      }
    }

    nonisolated(nonsending) public func numberOfForeignChanges(withPrefix prefix: String) async throws -> Int64? {
      try self.begin()
      defer { self.end() }
      return try await self.perform(on: self.leaseQueue) { [batches = self.batches] database in
        // Of the connection that makes all changes of this object, which do not count.
        try database.writeWithoutTransaction { try batches.foreignChanges(withPrefix: prefix, in: $0) }
      }
    }
  }
#endif
