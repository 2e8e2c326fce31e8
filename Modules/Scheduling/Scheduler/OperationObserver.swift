/// Observes the lifecycle of scheduled operations.
///
/// Each event is reported once, in order, to the observers in the order in which they were added, with no lock held.
/// An observer that is added late receives the start and the end at once, as far as they have happened.
public protocol OperationObserver: Sendable {
  /// The conditions of the operation are satisfied, and its body is about to run.
  ///
  /// The body may run already if an observer was still being notified of an earlier event, a product.
  func operationDidStart(_ operation: AnyScheduledOperation)

  /// The operation has produced another one, which has not begun yet.
  func operation(_ operation: AnyScheduledOperation, didProduce other: AnyScheduledOperation)

  /// The operation has ended, even if it has never started.
  func operation(_ operation: AnyScheduledOperation, didFinishWith outcome: OperationOutcome)
}

extension OperationObserver {
  public func operationDidStart(_ operation: AnyScheduledOperation) {}

  public func operation(_ operation: AnyScheduledOperation, didProduce other: AnyScheduledOperation) {}

  public func operation(_ operation: AnyScheduledOperation, didFinishWith outcome: OperationOutcome) {}
}

/// The closures that observe one operation: see ``ScheduledOperation/observe(_:)``.
///
/// Several closures of a kind are called in the order in which they were written.
public struct OperationObservation<Value: Sendable> {
  var started: [@Sendable () -> Void] = []
  var produced: [@Sendable (AnyScheduledOperation) -> Void] = []
  var ended: [@Sendable (Result<Value, any Error>) -> Void] = []

  /// Calls `body` when the conditions of the operation are satisfied, before its body runs.
  public mutating func didStart(_ body: @escaping @Sendable () -> Void) {
    self.started.append(body)
  }

  /// Calls `body` when the operation has produced another one.
  public mutating func didProduce(_ body: @escaping @Sendable (AnyScheduledOperation) -> Void) {
    self.produced.append(body)
  }

  /// Calls `body` when the operation has produced another one.
  public mutating func didProduce(_ body: @escaping @Sendable () -> Void) {
    self.produced.append { _ in body() }
  }

  /// Calls `body` with the value of the operation when it has succeeded.
  public mutating func didSucceed(_ body: @escaping @Sendable (Value) -> Void) {
    self.ended.append { if case .success(let value) = $0 { body(value) } }
  }

  /// Calls `body` when the operation has succeeded.
  public mutating func didSucceed(_ body: @escaping @Sendable () -> Void) {
    self.didSucceed { (_: Value) in body() }
  }

  /// Calls `body` with the error of the operation when it has failed, was denied, skipped or cancelled.
  public mutating func didFail(_ body: @escaping @Sendable (any Error) -> Void) {
    self.ended.append { if case .failure(let error) = $0 { body(error) } }
  }

  /// Calls `body` when the operation has failed, was denied, skipped or cancelled.
  public mutating func didFail(_ body: @escaping @Sendable () -> Void) {
    self.didFail { (_: any Error) in body() }
  }

  /// Calls `body` with the result of the operation when it has ended, in whatever way.
  public mutating func didFinish(_ body: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    self.ended.append(body)
  }

  /// Calls `body` when the operation has ended, in whatever way.
  public mutating func didFinish(_ body: @escaping @Sendable () -> Void) {
    self.ended.append { _ in body() }
  }
}

/// An observer that calls the closures of an ``OperationObservation``.
struct ClosureObserver<Value: Sendable>: OperationObserver {
  private let started: [@Sendable () -> Void]
  private let produced: [@Sendable (AnyScheduledOperation) -> Void]
  private let ended: [@Sendable (Result<Value, any Error>) -> Void]
  private let result: @Sendable (OperationOutcome) -> Result<Value, any Error>

  init(
    _ observation: OperationObservation<Value>,
    result: @escaping @Sendable (OperationOutcome) -> Result<Value, any Error>
  ) {
    self.started = observation.started
    self.produced = observation.produced
    self.ended = observation.ended
    self.result = result
  }

  func operationDidStart(_ operation: AnyScheduledOperation) {
    for body in self.started { body() }
  }

  func operation(_ operation: AnyScheduledOperation, didProduce other: AnyScheduledOperation) {
    for body in self.produced { body(other) }
  }

  func operation(_ operation: AnyScheduledOperation, didFinishWith outcome: OperationOutcome) {
    guard !self.ended.isEmpty else { return }
    let result = self.result(outcome)
    for body in self.ended { body(result) }
  }
}
