#if SwiftOperationPostgreSQL
  internal import OperationCore
  internal import OperationPersistence

  /// The calls of a storage that have not returned, and whether it was closed.
  final class UseCount: Sendable {
    private struct State: Sendable {
      var isClosed = false
      var count = 0
      var closing: [UnsafeContinuation<Void, Never>] = []
    }

    private let name: String
    private let state = Locked(State())

    init(name: String) {
      self.name = name
    }

    /// - Throws: An error if the storage was closed.
    func check() throws(StorageError) {
      if self.state.withLock({ $0.isClosed }) { throw .closed(self.name) }
    }

    func begin() throws(StorageError) {
      try self.state.withLock { state throws(StorageError) in
        if state.isClosed { throw .closed(self.name) }
        state.count += 1
      }
    }

    func end() {
      let closing = self.state.withLock { state -> [UnsafeContinuation<Void, Never>] in
        state.count -= 1
        guard state.count == 0 else { return [] }
        defer { state.closing = [] }
        return state.closing
      }
      for continuation in closing { continuation.resume() }
    }

    /// Refuses calls from now on, and waits for those that were begun.
    nonisolated(nonsending) func close() async {
      await withUnsafeContinuation { continuation in
        let isIdle = self.state.withLock { state in
          state.isClosed = true
          guard state.count > 0 else { return true }
          state.closing.append(continuation)
          return false
        }
        if isIdle { continuation.resume() }
      }
    }
  }
#endif
