#if SwiftOperationSQLite
  internal import Dispatch
  internal import GRDB
  internal import OperationCore
  internal import OperationPersistence

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
    }

    private struct State: Sendable {
      var requests: [Request] = []
      var isWriting = false
    }

    private static let maximumGroup = 256

    private let database: DatabasePool
    private let path: String
    private let writer = DispatchQueue(label: "swift-operation.sqlite-writer")
    private let state = Locked(State())

    init(database: DatabasePool, path: String) {
      self.database = database
      self.path = path
    }

    nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws(StorageError) {
      let result: Result<Void, StorageError> = await withUnsafeContinuation { continuation in
        let starts = self.state.withLock { state in
          state.requests.append(Request(batch: batch, continuation: continuation))
          defer { state.isWriting = true }
          return !state.isWriting
        }
        if starts { self.writer.async { self.write() } }
      }
      try result.get()
    }

    private func write() {
      while true {
        let group = self.state.withLock { state -> [Request] in
          let group = Array(state.requests.prefix(Self.maximumGroup))
          state.requests.removeFirst(group.count)
          if group.isEmpty { state.isWriting = false }
          return group
        }
        if group.isEmpty { return }
        let result = self.commit(group)
        if case .failure = result, group.count > 1 {
          // One batch may have caused the failure, and the others may succeed: each is committed by itself.
          for request in group { request.continuation.resume(returning: self.commit([request])) }
        } else {
          for request in group { request.continuation.resume(returning: result) }
        }
      }
    }

    /// Makes the changes of all requests in one transaction.
    private func commit(_ group: [Request]) -> Result<Void, StorageError> {
      let isDurable = group.contains(where: \.isDurable)
      return Result { () throws(StorageError) in
        try StorageError.translating(self.path) {
          try self.database.writeWithoutTransaction { database in
            // If a crash of the system undoes a removal, the call is repeated, and the server knows it by its key.
            try database.execute(sql: isDurable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            try database.inTransaction(.immediate) {
              for request in group { try EntryTable.apply(request.batch, in: database) }
              return .commit
            }
          }
        }
      }
    }
  }
#endif
