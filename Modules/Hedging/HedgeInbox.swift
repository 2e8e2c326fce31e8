internal import OperationCore

/// The events of a race, for the one task that waits for them.
final class HedgeInbox<Outcome: Sendable>: Sendable {
  enum Event: Sendable {
    /// A run has ended, at an elapsed time.
    case ended(Int, Outcome, at: Duration)
    /// The timer with a number has fired.
    case due(Int)
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

  /// Waits for the next event. It does not end at a cancellation: the runs do, and send their ends.
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
