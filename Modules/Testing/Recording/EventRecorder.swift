public import OperationCore

/// Writes down what happens in a store, in order.
///
/// ```swift
/// let recorder = EventRecorder<QueryState<Int, any Error>>()
/// let subscription = store.subscribe(with: recorder.handler)
/// try await store.fetch()
/// #expect(
///   recorder.digests == [
///     .state(nil), .state(nil, isLoading: true), .started, .state(1), .returned(1), .ended,
///   ]
/// )
/// ```
public final class EventRecorder<State: OperationState & Sendable>: Sendable {
  /// Something that happened.
  public struct Event: Sendable {
    /// What it was.
    public let kind: Kind

    /// The context that the handler got.
    public let context: OperationContext
  }

  /// The kinds of what happens: the closures of an event handler.
  public enum Kind: Sendable {
    /// The state is, or has become, this one.
    case stateChanged(State)
    /// A run has begun its work.
    case runStarted
    /// A run has ended.
    case runEnded
    /// A run has yielded or returned this; the context of the event tells which.
    case resultReceived(Result<State.OperationValue, State.Failure>)
  }

  let room = WaitingRoom<[Event]>([])

  /// Creates a recorder.
  public init() {}
}

extension EventRecorder {
  /// Writes down what it hears of: subscribe with it, or attach it to an operation.
  ///
  /// It does not keep the recorder alive.
  public var handler: OperationEventHandler<State> {
    // Weakly: an event keeps its context, which keeps the handlers that were attached to the operation.
    let record: @Sendable (Kind, OperationContext) -> Void = { [weak room] kind, context in
      room?.change { $0.append(Event(kind: kind, context: context)) }
    }
    return OperationEventHandler(
      onStateChanged: { record(.stateChanged($0), $1) },
      onRunStarted: { record(.runStarted, $0) },
      onRunEnded: { record(.runEnded, $0) },
      onResultReceived: { record(.resultReceived($0), $1) }
    )
  }

  /// Forgets what has been recorded.
  public func removeAll() {
    // Returned so that the events go after the lock.
    _ = self.room.change { events in
      defer { events = [] }
      return events
    }
  }
}

extension EventRecorder where State: QueryStateProtocol {
  /// ``handler`` in the words of a query.
  public var queryHandler: QueryEventHandler<State> {
    let handler = self.handler
    return QueryEventHandler(
      onStateChanged: handler.onStateChanged,
      onFetchingStarted: handler.onRunStarted,
      onFetchingEnded: handler.onRunEnded,
      onResultReceived: handler.onResultReceived
    )
  }
}

// MARK: - Reading

extension EventRecorder {
  /// All that has been recorded.
  public var events: [Event] { self.room.state }

  /// The states that have been recorded, in order.
  public var states: [State] { self.events.compactMap(\.state) }

  /// The values of the states that have been recorded, in order.
  public var stateValues: [State.StateValue] { self.states.map(\.currentValue) }

  /// The results that have been recorded, yielded and returned, in order.
  public var results: [Result<State.OperationValue, State.Failure>] { self.events.compactMap(\.result) }

  /// The values among ``results``.
  public var values: [State.OperationValue] { self.results.compactMap { try? $0.get() } }

  /// The errors among ``results``.
  public var errors: [State.Failure] {
    self.results.compactMap { result in
      if case .failure(let error) = result { error } else { nil }
    }
  }

  /// How many runs have begun their work.
  public var startedRunCount: Int {
    self.events.count { if case .runStarted = $0.kind { true } else { false } }
  }

  /// How many runs have ended.
  public var endedRunCount: Int {
    self.events.count { if case .runEnded = $0.kind { true } else { false } }
  }
}

extension EventRecorder.Event {
  /// The state, when the event is that of a state.
  public var state: State? {
    if case .stateChanged(let state) = self.kind { state } else { nil }
  }

  /// The result, when the event is that of a result.
  public var result: Result<State.OperationValue, State.Failure>? {
    if case .resultReceived(let result) = self.kind { result } else { nil }
  }
}
