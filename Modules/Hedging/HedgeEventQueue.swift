internal import OperationCore

/// The queued events of a hedged run. One task reads them.
final class HedgeEventQueue<Outcome: Sendable>: Sendable {
  enum Event: Sendable {
    /// The run with this index has ended, at an elapsed time.
    case ended(Int, Outcome, at: Duration)
    /// The timer with this number has fired.
    case due(Int)
    /// The caller was cancelled while no run was under way.
    case cancelled
  }

  private struct State: Sendable {
    var events: [Event] = []
    var reader: UnsafeContinuation<Event, Never>?
  }

  private let state = Locked(State())

  func send(_ event: Event) {
    let reader = self.state.withLock { state -> UnsafeContinuation<Event, Never>? in
      if let reader = state.reader.take() { return reader }
      state.events.append(event)
      return nil
    }
    reader?.resume(returning: event)
  }

  /// Waits for the next event of a run or a timer, or the cancellation of the task.
  func nextOrCancellation(isolation: isolated (any Actor)?) async -> Event {
    await withTaskCancellationHandler {
      await self.next(isolation: isolation)
    } onCancel: {
      self.send(.cancelled)
    }
  }

  /// Waits for the next event, even in a cancelled task: its runs are cancelled, too, and each sends an event at its
  /// end.
  func next(isolation: isolated (any Actor)?) async -> Event {
    await withUnsafeContinuation { continuation in
      let event = self.state.withLock { state -> Event? in
        guard state.events.isEmpty else { return state.events.removeFirst() }
        state.reader = continuation
        return nil
      }
      if let event { continuation.resume(returning: event) }
    }
  }
}
