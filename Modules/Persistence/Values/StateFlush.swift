internal import OperationCore

/// A wait of `flush()`. It ends when the values are written, when writing has failed, or when the task is cancelled.
final class StateFlush: @unchecked Sendable {
  // Unchecked because of `number`, which is set under the lock of the writer, before any other thread has the object.
  private enum Phase: Sendable {
    case begun
    case waiting(UnsafeContinuation<Bool, Never>)
    case ended(Bool)
  }

  /// The number of the newest change that the flush waits for.
  var number: UInt64 = 0
  private let phase = Locked(Phase.begun)

  func wait() async -> Bool {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let result: Bool? = self.phase.withLock { phase in
          if case .ended(let result) = phase { return result }
          phase = .waiting(continuation)
          return nil
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      self.end(false)
    }
  }

  func end(_ isWritten: Bool) {
    let continuation: UnsafeContinuation<Bool, Never>? = self.phase.withLock { phase in
      switch phase {
      case .begun:
        phase = .ended(isWritten)
        return nil
      case .waiting(let continuation):
        phase = .ended(isWritten)
        return continuation
      case .ended: return nil
      }
    }
    continuation?.resume(returning: isWritten)
  }
}
