#if SwiftOperationSQLite
  internal import Dispatch
  internal import GRDB
  internal import OperationCore
  internal import OperationPersistence
  internal import Synchronization

  /// Writes batches one after the other, on one thread. Batches that arrive during a write are committed together.
  final class BatchQueue: Sendable {
    private struct Request: Sendable {
      let batch: [StorageChange]
      let continuation: UnsafeContinuation<Result<Void, StorageError>, Never>

      /// Whether the batch has to be on the disk before its caller continues.
      var isDurable: Bool {
        self.batch.contains { change in
          if case .put = change { true } else { false }
        }
      }

      var removalCount: Int {
        self.batch.count { change in
          if case .remove = change { true } else { false }
        }
      }
    }

    private struct State: Sendable {
      var requests: [Request] = []
      var isWriting = false
      /// How many requests the writer waits for; zero if it does not wait.
      var awaitedCount = 0
    }

    private static let maximumGroup = 256

    private let database: DatabasePool
    private let path: String
    private let writer = DispatchQueue(label: "swift-operation.sqlite-writer")
    private let state = Locked(State())
    private let arrival = DispatchSemaphore(value: 0)
    /// How many entries were removed since unused pages were looked for. Only the writer uses it.
    private let removedCount = Atomic(0)

    init(database: DatabasePool, path: String) {
      self.database = database
      self.path = path
    }

    nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws(StorageError) {
      let result: Result<Void, StorageError> = await withUnsafeContinuation { continuation in
        let (starts, isComplete) = self.state.withLock { state in
          state.requests.append(Request(batch: batch, continuation: continuation))
          let isComplete = state.awaitedCount > 0 && state.requests.count >= state.awaitedCount
          if isComplete { state.awaitedCount = 0 }
          defer { state.isWriting = true }
          return (!state.isWriting, isComplete)
        }
        if isComplete { self.arrival.signal() }
        if starts { self.writer.async { self.write() } }
      }
      try result.get()
    }

    /// Waits until the writer has nothing to do.
    nonisolated(nonsending) func settled() async {
      await withUnsafeContinuation { continuation in
        self.writer.async { continuation.resume() }
      }
    }

    private func write() {
      var last: (count: Int, duration: Duration) = (0, .zero)
      while true {
        // The callers of a group often continue with their next batches: otherwise the first of them would have a write
        // to the disk of its own.
        if last.count > 1 { self.wait(forRequests: last.count, atMost: last.duration / 2) }
        let (group, isIdle) = self.nextGroup()
        if isIdle { return }
        if group.isEmpty {
          self.reclaimSpace()
          continue
        }
        let start = ContinuousClock.now
        let result = self.commit(group)
        last = (group.count, start.duration(to: .now))
        if case .failure = result, group.count > 1 {
          // One batch may have caused the failure, and the others may succeed: each is committed by itself.
          for request in group { request.continuation.resume(returning: self.commit([request])) }
        } else {
          for request in group { request.continuation.resume(returning: result) }
        }
      }
    }

    /// The next requests, and whether there is nothing to do.
    private func nextGroup() -> (group: [Request], isIdle: Bool) {
      let mayReclaim = self.removedCount.load(ordering: .relaxed) >= FreeSpace.interval
      return self.state.withLock { state in
        let group = Array(state.requests.prefix(Self.maximumGroup))
        state.requests.removeFirst(group.count)
        let isIdle = group.isEmpty && !mayReclaim
        if isIdle { state.isWriting = false }
        return (group, isIdle)
      }
    }

    /// Waits for as many requests as the last group had, and not longer than a part of what its write took.
    private func wait(forRequests count: Int, atMost limit: Duration) {
      let waits = self.state.withLock { state in
        guard state.requests.count < count else { return false }
        state.awaitedCount = count
        return true
      }
      guard waits else { return }
      let end = DispatchTime.now() + min(limit.seconds, 0.005)
      guard self.arrival.wait(timeout: end) == .timedOut else { return }
      let isSignaled = self.state.withLock { state in
        defer { state.awaitedCount = 0 }
        return state.awaitedCount == 0
      }
      if isSignaled { self.arrival.wait() }
    }

    /// Gives some unused pages back to the system. Batches that arrive meanwhile come before the next ones.
    private func reclaimSpace() {
      let hasMore = try? self.database.writeWithoutTransaction { database in
        // What a crash of the system undoes is done again later.
        try Durability.withoutWaiting(in: database) { try FreeSpace.reclaim(in: database) }
      }
      if hasMore != true { self.removedCount.store(0, ordering: .relaxed) }
    }

    /// Makes the changes of all requests in one transaction.
    private func commit(_ group: [Request]) -> Result<Void, StorageError> {
      let isDurable = group.contains(where: \.isDurable)
      let removedCount = group.reduce(0) { $0 + $1.removalCount }
      if removedCount > 0 { self.removedCount.add(removedCount, ordering: .relaxed) }
      return Result { () throws(StorageError) in
        try StorageError.translating(self.path) {
          try self.database.writeWithoutTransaction { database in
            func commit() throws {
              try database.inTransaction(.immediate) {
                // Together, so that the numbers of entries change once.
                try EntryTable.apply(group.flatMap(\.batch), in: database)
                return .commit
              }
            }
            // If a crash of the system undoes a removal, the call is repeated, and the server knows it by its key.
            if isDurable { try commit() } else { try Durability.withoutWaiting(in: database, commit) }
          }
        }
      }
    }
  }
#endif
