public import OperationCore

/// Records the events of a store, in order.
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
  /// A recorded event.
  public struct Event: Sendable {
    /// The kind of the event.
    public let kind: Kind

    /// The context that the handler received.
    public let context: OperationContext
  }

  /// The kinds of events: the closures of an event handler.
  @nonexhaustive(warn)
  public enum Kind: Sendable {
    /// A state: the current one when the subscription began, or a later one.
    case stateChanged(State)
    /// A run has started.
    case runStarted
    /// A run has ended.
    case runEnded
    /// A run has yielded or returned this result; the context of the event distinguishes the two.
    case resultReceived(Result<State.OperationValue, State.Failure>)
  }

  let recorded = AwaitableState<[Event]>([])

  /// Creates a recorder.
  public init() {}
}

extension EventRecorder {
  /// The handler that records events: subscribe with it, or attach it to an operation.
  ///
  /// It does not retain the recorder.
  public var handler: OperationEventHandler<State> {
    // Weak, to avoid a retain cycle: an event retains its context, which retains the handlers attached to the
    // operation.
    let record: @Sendable (Kind, OperationContext) -> Void = { [weak recorded] kind, context in
      recorded?.change { $0.append(Event(kind: kind, context: context)) }
    }
    return OperationEventHandler(
      onStateChanged: { record(.stateChanged($0), $1) },
      onRunStarted: { record(.runStarted, $0) },
      onRunEnded: { record(.runEnded, $0) },
      onResultReceived: { record(.resultReceived($0), $1) }
    )
  }

  /// Removes all recorded events.
  public func removeAll() {
    // Returned so that the events are released after unlocking.
    _ = self.recorded.change { events in
      defer { events = [] }
      return events
    }
  }
}

extension EventRecorder where State: QueryStateProtocol {
  /// The same as ``handler``, for the events of a query.
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
  /// All recorded events.
  public var events: [Event] { self.recorded.current }

  /// The recorded states, in order.
  public var states: [State] { self.events.compactMap(\.state) }

  /// The values of the recorded states, in order.
  public var stateValues: [State.StateValue] { self.states.map(\.currentValue) }

  /// The recorded results, both yielded and returned, in order.
  public var results: [Result<State.OperationValue, State.Failure>] { self.events.compactMap(\.result) }

  /// The successful results among ``results``.
  public var values: [State.OperationValue] { self.results.compactMap { try? $0.get() } }

  /// The errors among ``results``.
  public var errors: [State.Failure] {
    self.results.compactMap { result in
      if case .failure(let error) = result { error } else { nil }
    }
  }

  /// The number of runs that have started.
  public var startedRunCount: Int {
    self.events.count { if case .runStarted = $0.kind { true } else { false } }
  }

  /// The number of runs that have ended.
  public var endedRunCount: Int {
    self.events.count { if case .runEnded = $0.kind { true } else { false } }
  }
}

extension EventRecorder.Event {
  /// The state; nil for other kinds of events.
  public var state: State? {
    if case .stateChanged(let state) = self.kind { state } else { nil }
  }

  /// The result; nil for other kinds of events.
  public var result: Result<State.OperationValue, State.Failure>? {
    if case .resultReceived(let result) = self.kind { result } else { nil }
  }
}
