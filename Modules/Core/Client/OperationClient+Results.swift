extension OperationClient {
  /// Calls `receive` with the results of all runs of the client's stores, also of stores that are made later.
  ///
  /// Use it for what concerns every operation, such as a report of errors:
  ///
  /// ```swift
  /// let subscription = client.onResult { event in
  ///   if let error = event.error { log("\(event.path): \(error)") }
  /// }
  /// ```
  ///
  /// A run reports each value that it yields, and at its end the value that it returns or the error of its last
  /// attempt. It reports once, however many callers and subscribers wait for it. A cancelled run has no result, and
  /// setting a value is no result either. Without such a closure this costs nothing.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - receive: Called for each store in event order, with no lock held, on the thread that delivers the event, after
  ///     the subscribers have received the state. Calls for different stores may run at the same time.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped. It does not keep the client alive.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func onResult(
    matching path: OperationPath = [],
    _ receive: @escaping @Sendable (OperationResultEvent) -> Void
  ) -> OperationSubscription {
    self.observe(matching: path, with: ResultObserver(receive))
  }

  /// Calls `receive` with the errors of all runs of the client's stores, also of stores that are made later.
  ///
  /// See ``onResult(matching:_:)``. An attempt that is followed by another one has no error here.
  ///
  /// ```swift
  /// let subscription = client.onError { error, event in toasts.show("\(event.operationName): \(error)") }
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - receive: Called for each store in event order, with no lock held, on the thread that delivers the event.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped. It does not keep the client alive.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func onError(
    matching path: OperationPath = [],
    _ receive: @escaping @Sendable (any Error, OperationResultEvent) -> Void
  ) -> OperationSubscription {
    self.onResult(matching: path) { event in
      if let error = event.error { receive(error, event) }
    }
  }
}

/// A result of a run, as ``OperationClient/onResult(matching:_:)`` reports it.
public struct OperationResultEvent: Sendable {
  /// The path of the operation.
  public let path: OperationPath

  /// The ``OperationRequest/operationName`` of the operation.
  public let operationName: String

  /// The value that the run has yielded or returned, or its error.
  public let result: Result<any Sendable, any Error>

  /// The context of the event, with the identifier of the run.
  public let context: OperationContext

  /// The error; nil for a value.
  public var error: (any Error)? { if case .failure(let error) = self.result { error } else { nil } }

  /// Whether the run has ended with this result, and has not only yielded it.
  public var isFinal: Bool { self.context.operationResultUpdateReason == .returnedFinalResult }

  fileprivate init(_ outcome: StoreOutcome, _ event: StoreEvent) {
    self.path = event.path
    self.operationName = event.operationName
    self.context = event.context
    self.result =
      if let error = outcome.error { .failure(error) } else { .success(outcome.base.anyValue ?? ()) }
  }
}

/// Passes the results of runs on.
private final class ResultObserver: StoreObserver {
  private let onResult: @Sendable (OperationResultEvent) -> Void

  init(_ onResult: @escaping @Sendable (OperationResultEvent) -> Void) {
    self.onResult = onResult
  }

  var observedEvents: StoreEvent.Kinds { [.runs, .yields] }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    switch event.what {
    case .yielded(let outcome): self.onResult(OperationResultEvent(outcome, event))
    case .runEnded(let end):
      if let outcome = end.outcome { self.onResult(OperationResultEvent(outcome, event)) }
    default: break
    }
  }
}
