internal import OperationCore

/// An event that happens once, and a task that waits for it.
final class JournalSignal: Sendable {
  private struct State: Sendable {
    var isOver = false
    var continuation: UnsafeContinuation<Void, Never>?
  }

  private let state = Locked(State())

  /// Ends the wait, now or when it begins.
  func finish() {
    let continuation = self.state.withLock { state in
      state.isOver = true
      return state.continuation.take()
    }
    continuation?.resume()
  }

  /// Waits for the event. For one task.
  nonisolated(nonsending) func wait() async {
    await withUnsafeContinuation { continuation in
      let isOver = self.state.withLock { state in
        if !state.isOver { state.continuation = continuation }
        return state.isOver
      }
      if isOver { continuation.resume() }
    }
  }

  /// Waits for the event, or until the current task is cancelled.
  func waitOrLeave() async {
    await withTaskCancellationHandler {
      await self.wait()
    } onCancel: {
      self.finish()
    }
  }
}

/// The result of a change that is being stored.
final class JournalWrite: Sendable {
  /// The change of the entry with this number, and all before it, are stored together.
  let version: Int
  private let signal = JournalSignal()
  private let result = Locked<Result<Void, any Error>?>(nil)

  init(version: Int) {
    self.version = version
  }

  func finish(_ result: Result<Void, any Error>) {
    self.result.withLock { $0 = result }
    self.signal.finish()
  }

  /// Waits until the change is stored, also in a cancelled task.
  nonisolated(nonsending) func value() async throws {
    await self.signal.wait()
    try self.result.withLock { $0 }?.get()
  }
}
