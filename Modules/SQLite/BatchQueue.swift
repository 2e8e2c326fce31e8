#if SwiftOperationSQLite
  internal import Dispatch
  internal import GRDB
  internal import OperationCore
  internal import OperationPersistence
  internal import Synchronization

  /// Writes batches one after the other, on one thread. Batches that arrive during a write are committed together.
  ///
  /// A batch that arrives while SQLite makes the changes of others is still in their transaction, and one that arrives
  /// while they are being written to the disk is in the next one. So a caller waits for two writes to the disk at most,
  /// unless more callers wait than are committed together.
  final class BatchQueue: Sendable {
    fileprivate struct Request: Sendable {
      let batch: [StorageChange]
      let conditions: [StorageCondition]
      let continuation: UnsafeContinuation<Result<StorageOutcome, StorageError>, Never>

      /// Whether the batch has to be on the disk before its caller continues.
      var isDurable: Bool {
        self.batch.contains { change in
          if case .put = change { true } else { false }
        }
      }

      /// Whether the batch is a removal, and puts a few bytes at most. On a full disk it makes room.
      ///
      /// What it puts and removes again is no removal, as when the library tries whether the disk can be written.
      var isRemoval: Bool {
        var (removed, put, byteCount) = (Set<String>(), Set<String>(), 0)
        for change in self.batch {
          switch change {
          case .put(let key, let value):
            put.insert(key)
            byteCount += key.utf8.count + value.count
          case .remove(let key): removed.insert(key)
          }
        }
        return !removed.isSubset(of: put) && byteCount <= 1_024
      }
    }

    private struct State: Sendable {
      var requests: [Request] = []
      /// What the writer does before the next transaction.
      var steps: [@Sendable () -> Void] = []
      var isWriting = false
      /// How many requests the writer waits for; zero if it does not wait.
      var awaitedCount = 0
    }

    private static let maximumGroup = 256

    private let database: DatabasePool
    private let path: String
    private let writer = DispatchQueue(label: "swift-operation.sqlite-writer")
    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)
    /// How many requests there are, for the writer to see without the lock.
    private let requestCount = Atomic(0)
    /// How many entries were removed since unused pages were looked for. Only the writer uses it.
    private let removedCount = Atomic(0)
    /// Whether the next transaction waits for the disk. Only the connection that writes uses it.
    private let waitsForDisk = Atomic(true)
    private let foreignChanges = Mutex(ForeignChanges())
    private let reserve: DiskReserve

    init(database: DatabasePool, path: String) {
      self.database = database
      self.path = path
      self.reserve = DiskReserve(ofFile: path)
      self.keepReserve()
    }

    nonisolated(nonsending) func apply(
      _ batch: [StorageChange],
      if conditions: [StorageCondition]
    ) async throws(StorageError) -> StorageOutcome {
      let result: Result<StorageOutcome, StorageError> = await withUnsafeContinuation { continuation in
        let (starts, isComplete) = self.state.withLock { state in
          state.requests.append(Request(batch: batch, conditions: conditions, continuation: continuation))
          let isComplete = state.awaitedCount > 0 && state.requests.count >= state.awaitedCount
          if isComplete { state.awaitedCount = 0 }
          self.requestCount.store(state.requests.count, ordering: .relaxed)
          defer { state.isWriting = true }
          return (!state.isWriting, isComplete)
        }
        if isComplete { self.arrival.signal() }
        if starts { self.writer.async { self.write() } }
      }
      return try result.get()
    }

    /// Waits until the writer has nothing to do.
    nonisolated(nonsending) func settled() async {
      await withUnsafeContinuation { continuation in
        self.writer.async { continuation.resume() }
      }
    }

    /// Keeps a reserve again once the database was closed, which gives the room of the log back.
    func keepReserveAfterClosing() { self.reserve.keepOfClosed() }

    /// Copies the write-ahead log to the file, and cuts it to nothing, after what is being written.
    nonisolated(nonsending) func emptyLog() async throws(StorageError) {
      let result: Result<Void, StorageError> = await withUnsafeContinuation { continuation in
        self.perform {
          var result = self.checkpoint(.truncate)
          if case .failure(let error) = result, error.code == .full, self.reserve.giveUp() {
            // The file can grow now for what is in the log, and the room of the log is free then.
            result = self.checkpoint(.truncate)
            self.keepReserve()
          }
          continuation.resume(returning: result)
        }
      }
      try result.get()
    }

    /// Lets the writer do something before its next transaction. What is behind it in the queue would wait until no caller writes.
    private func perform(_ step: @escaping @Sendable () -> Void) {
      let starts = self.state.withLock { state in
        state.steps.append(step)
        defer { state.isWriting = true }
        return !state.isWriting
      }
      if starts { self.writer.async { self.write() } }
    }

    /// Does something on the thread of the caller while the writer waits for it.
    private func betweenTransactions<R>(_ body: () -> R) -> R {
      let (beginning, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      self.perform {
        beginning.signal()
        end.wait()
      }
      beginning.wait()
      defer { end.signal() }
      return body()
    }

    private func checkpoint(_ mode: Database.CheckpointMode) -> Result<Void, StorageError> {
      Result { () throws(StorageError) in
        try StorageError.translating(self.path) {
          _ = try self.database.writeWithoutTransaction { try $0.checkpoint(mode) }
        }
      }
    }

    private func write() {
      var pace = Pace()
      while true {
        // Callers often continue with their next batches, and starting the writer again takes longer than waking it.
        if pace.count > 0 { self.wait(forRequests: 1, atMost: max(pace.limit, 1_000_000), &pace) }
        let (first, steps, isIdle) = self.nextGroup()
        if isIdle { return }
        for step in steps { step() }
        if first.isEmpty {
          if steps.isEmpty { self.reclaimSpace() }
          continue
        }
        let (group, result) = self.commit(first, &pace)
        switch result {
        case .success: break
        case .failure(let error) where group.count > 1 && error.asObstacle == nil || error.code == .full:
          // One batch may have caused the failure, and the others may succeed: each is committed by itself. What every batch fails
          // with is answered to all: otherwise their callers would wait for it one after the other.
          for request in group { request.continuation.resume(returning: self.commitAlone(request)) }
        case .failure(let error):
          for request in group { request.continuation.resume(returning: .failure(error)) }
        }
      }
    }

    /// The next requests, what to do before them, and whether there is nothing to do.
    private func nextGroup() -> (group: [Request], steps: [@Sendable () -> Void], isIdle: Bool) {
      let mayReclaim = self.removedCount.load(ordering: .relaxed) >= FreeSpace.interval
      return self.state.withLock { state in
        let group = self.takeRequests(besides: 0, &state)
        let steps = state.steps
        if !steps.isEmpty { state.steps = [] }
        let isIdle = group.isEmpty && steps.isEmpty && !mayReclaim
        if isIdle { state.isWriting = false }
        return (group, steps, isIdle)
      }
    }

    /// Takes the requests that have arrived, as far as there is room for them with others.
    private func takeRequests(besides count: Int, _ state: inout State) -> [Request] {
      let room = Self.maximumGroup - count
      defer { self.requestCount.store(state.requests.count, ordering: .relaxed) }
      if state.requests.count <= room {
        defer { state.requests = [] }
        return state.requests
      }
      defer { state.requests.removeFirst(room) }
      return Array(state.requests.prefix(room))
    }

    /// Gives some unused pages back to the system. Batches that arrive meanwhile come before the next ones.
    private func reclaimSpace() {
      let hasMore = try? self.database.writeWithoutTransaction { database in
        // What a crash of the system undoes is done again later.
        try self.waiting(false, in: database) { try FreeSpace.reclaim(in: database) }
      }
      self.reserve.invalidate()
      if hasMore != true { self.removedCount.store(0, ordering: .relaxed) }
    }
  }

  // MARK: - Transactions

  extension BatchQueue {
    /// Commits requests together with those that arrive until their changes are made, and answers them if that
    /// succeeds.
    ///
    /// - Parameters:
    ///   - requests: The first requests.
    ///   - pace: What the last transaction was like. As many requests as it had are waited for: otherwise the first of the
    ///     callers of a group that continue would have a write to the disk of its own.
    /// - Returns: All requests of the transaction, in the order of their changes, with what has become of each of them.
    private func commit(
      _ requests: [Request],
      _ pace: inout Pace
    ) -> (group: [Request], result: Result<[StorageOutcome], StorageError>) {
      var group = requests
      let isDurable = requests.contains(where: \.isDurable)
      var start = DispatchTime.now().uptimeNanoseconds
      var mayWait = true
      // The connection is set back while the callers continue.
      let result = self.transact(isDurable: isDurable) { changes in
        var next = requests
        var outcomes: [StorageOutcome] = []
        while !next.isEmpty {
          for request in next { outcomes.append(try changes.make(request.batch, if: request.conditions)) }
          // A transaction that does not wait for the disk cannot take any others.
          guard isDurable else { break }
          next = self.state.withLock { self.takeRequests(besides: group.count, &$0) }
          if next.isEmpty, mayWait, group.count < pace.count {
            mayWait = false
            start += self.wait(forRequests: pace.count - group.count, atMost: pace.limit, &pace)
            next = self.state.withLock { self.takeRequests(besides: group.count, &$0) }
          }
          group += next
        }
        return outcomes
      } committed: { outcomes, database in
        self.keepReserve(in: database)
        for (request, outcome) in zip(group, outcomes) { request.continuation.resume(returning: .success(outcome)) }
      }
      pace.count = group.count
      pace.duration = DispatchTime.now().uptimeNanoseconds - start
      return (group, result)
    }

    private func commitAlone(_ request: Request) -> Result<StorageOutcome, StorageError> {
      let result = self.transact(isDurable: request.isDurable) { try $0.make(request.batch, if: request.conditions) }
      guard case .failure(let error) = result, error.code == .full, request.isRemoval else { return result }
      // A removal makes room, and needs some in the log first.
      return self.withRoomInLog(after: result) {
        self.transact(isDurable: request.isDurable, needsReserve: false) {
          try $0.make(request.batch, if: request.conditions)
        }
      }
    }

    /// Makes a change again that has found the disk full, after it has made room in the log.
    private func withRoomInLog<R>(
      after result: Result<R, StorageError>,
      _ change: () -> Result<R, StorageError>
    ) -> Result<R, StorageError> {
      func isFull(_ result: Result<R, StorageError>) -> Bool {
        if case .failure(let error) = result { error.code == .full } else { false }
      }
      var result = result
      // What was copied to the file is written over in the log.
      if case .success = self.checkpoint(.restart) { result = change() }
      guard isFull(result), self.reserve.giveUp() else { return result }
      // First, before the log takes what the file has to grow by.
      _ = self.checkpoint(.restart)
      return change()
    }

    /// Keeps a reserve for the first time, or again after it was given up, if there is room for it.
    private func keepReserve() {
      self.database.writeWithoutTransaction { self.keepReserve(in: $0) }
    }

    private func keepReserve(in database: Database) {
      if !self.reserve.isKept { try? self.reserve.cover(database) }
    }

    /// Writes a lease, also on a full disk: without it the calls of a journal could not be made, and not be removed.
    func writeLease(_ body: (Database) throws -> Void) throws(StorageError) {
      func write() -> Result<Void, StorageError> {
        Result { () throws(StorageError) in
          try StorageError.translating(self.path) {
            try self.database.writeWithoutTransaction { database in
              // A lease ends with the machine, so it need not be on the disk.
              try self.waiting(false, in: database) {
                try database.inTransaction(.immediate) {
                  try body(database)
                  return .commit
                }
              }
            }
          }
        }
      }
      var result = write()
      if case .failure(let error) = result, error.code == .full {
        result = self.betweenTransactions { self.withRoomInLog(after: result, write) }
      }
      try result.get()
    }

    /// A number that grows when another connection has changed an entry with a prefix.
    ///
    /// Call it on the connection that makes the changes.
    func foreignChanges(withPrefix prefix: String, in database: Database) throws -> Int64 {
      let version = try Int64.fetchOne(database, sql: "PRAGMA data_version") ?? 0
      let prefix = TallyTable.prefix(of: prefix)
      if let number = self.foreignChanges.withLock({ $0.number(of: prefix, asOf: version) }) { return number }
      let tally = try TallyTable.tally(of: prefix, in: database)
      return self.foreignChanges.withLock { $0.note(tally, of: prefix, asOf: version) }
    }

    /// Makes changes in a transaction.
    ///
    /// - Parameters:
    ///   - isDurable: Whether they are on the disk when this returns.
    ///   - needsReserve: Whether those that wait for the disk leave room on it for removals.
    ///   - body: Makes the changes.
    ///   - committed: Called with what `body` has returned, once the transaction is committed.
    /// - Returns: What `body` has returned.
    private func transact<R>(
      isDurable: Bool,
      needsReserve: Bool = true,
      _ body: (inout EntryChanges) throws -> R,
      committed: (R, Database) -> Void = { _, _ in }
    ) -> Result<R, StorageError> {
      var removedCount = 0
      var tallies: [TallyTable.Change] = []
      let result = Result { () throws(StorageError) in
        try StorageError.translating(self.path) {
          try self.database.writeWithoutTransaction { database in
            // If a crash of the system undoes a removal, the call is repeated, and the server knows it by its key.
            try self.waiting(isDurable, in: database) {
              let result = try Durability.commit(in: database) {
                var changes = try EntryChanges(in: database)
                let result = try body(&changes)
                tallies = try changes.finish()
                removedCount = changes.removedCount
                if isDurable {
                  try OpenDatabase.checkPlace(of: database, at: self.path)
                  if needsReserve { try self.reserve.cover(database) }
                }
                return result
              }
              self.foreignChanges.withLock { $0.note(tallies) }
              committed(result, database)
              return result
            }
          }
        }
      }
      if removedCount > 0 { self.removedCount.add(removedCount, ordering: .relaxed) }
      return result
    }

    /// Makes changes that wait for the disk, or do not. Later ones wait for it again.
    private func waiting<R>(_ waits: Bool, in database: Database, _ body: () throws -> R) throws -> R {
      try self.wait(waits, in: database)
      defer { try? self.wait(true, in: database) }
      return try body()
    }

    /// Lets the next transactions of the connection that writes wait for the disk, or not.
    ///
    /// Each that has to wait asks for it, also where the one before could not go back to that.
    private func wait(_ waits: Bool, in database: Database) throws {
      if self.waitsForDisk.load(ordering: .relaxed) == waits { return }
      // If this fails, it is not known, and the next one that has to wait asks for it again.
      self.waitsForDisk.store(false, ordering: .relaxed)
      try Durability.set(waiting: waits, in: database)
      self.waitsForDisk.store(waits, ordering: .relaxed)
    }
  }

  // MARK: - Waiting for callers

  extension BatchQueue {
    /// What the writer knows of its callers.
    fileprivate struct Pace {
      /// How many batches the last transaction had.
      var count = 0
      /// How long it has taken, without waiting, in nanoseconds.
      var duration: UInt64 = 0
      /// Whether the last request that was waited for has come so soon that sleeping would have taken longer.
      var isQuick = false

      static let quick: UInt64 = 50_000

      /// How long to wait at most: a part of what a write to the disk takes, which the wait may save.
      var limit: UInt64 { min(self.duration / 2, 5_000_000) }
    }

    /// Waits until a number of requests is there, and not longer than a limit.
    ///
    /// - Returns: How long it has waited, in nanoseconds.
    @discardableResult
    private func wait(forRequests count: Int, atMost limit: UInt64, _ pace: inout Pace) -> UInt64 {
      let start = DispatchTime.now().uptimeNanoseconds
      let isThere =
        pace.isQuick && self.look(forRequests: count, until: start + min(limit, Pace.quick))
        || self.sleep(untilRequests: count, orUntil: start + limit)
      let duration = DispatchTime.now().uptimeNanoseconds - start
      pace.isQuick = isThere && duration < Pace.quick
      return duration
    }

    /// Looks at the number of requests again and again. Returns whether they are there.
    private func look(forRequests count: Int, until end: UInt64) -> Bool {
      while self.requestCount.load(ordering: .relaxed) < count {
        if DispatchTime.now().uptimeNanoseconds >= end { return false }
      }
      return true
    }

    /// Sleeps until a number of requests is there. Returns whether they are.
    private func sleep(untilRequests count: Int, orUntil end: UInt64) -> Bool {
      let waits = self.state.withLock { state in
        guard state.requests.count < count else { return false }
        state.awaitedCount = count
        return true
      }
      guard waits, self.arrival.wait(timeout: DispatchTime(uptimeNanoseconds: end)) == .timedOut else { return true }
      let isSignaled = self.state.withLock { state in
        defer { state.awaitedCount = 0 }
        return state.awaitedCount == 0
      }
      if isSignaled { self.arrival.wait() }
      return isSignaled
    }
  }
#endif
