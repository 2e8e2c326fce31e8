public import OperationCore
internal import Synchronization

/// An operation of a scheduler.
///
/// ```swift
/// let download = scheduler.schedule(DownloadOperation(url))
/// let index = scheduler.schedule(WriteIndex()) { $0.addDependency(download) }
/// try await index.value
/// ```
///
/// The operation runs even if nothing refers to this object.
public final class ScheduledOperation<Value: Sendable>: Sendable {
  @usableFromInline let node: ScheduledNode
  /// What the body has returned.
  private let returned = Mutex<Value?>(nil)

  @usableFromInline
  init(node: ScheduledNode) {
    self.node = node
  }

  /// What the body has returned; nil before that.
  @usableFromInline var storedValue: Value? { self.returned.withLock { $0 } }

  /// Keeps what the body has returned.
  @usableFromInline
  func keep(_ value: Value) {
    let earlier = self.returned.withLock { returned in
      defer { returned = value }
      return returned.take()
    }
    _ = consume earlier  // Released after unlocking.
  }

  /// The operation without the type of its value.
  public var erased: AnyScheduledOperation { AnyScheduledOperation(node: self.node) }

  /// The value of the operation, once it has ended.
  ///
  /// A scheduled operation that awaits the value of another one gives its place to others meanwhile, and lets the other
  /// one use the categories that it holds.
  ///
  /// - Throws: The error of the operation; `CancellationError` if it was cancelled before it began, or at once when the
  ///   current task is cancelled; ``/OperationCore/OperationCycleError`` if the operation waits for the one that
  ///   reads the value.
  public var value: Value {
    get async throws {
      try await self.node.ended(isolation: nil)
      guard let result = self.result else { throw CancellationError() }
      return try result.get()
    }
  }

  /// The result of the operation; nil before its end.
  public var result: Result<Value, any Error>? {
    let (value, outcome) = SchedulingLock.withLock {
      self.node.isEnded ? (self.storedValue, self.node.state.outcome) : (nil, nil)
    }
    return outcome.map { self.result(of: $0, value) }
  }

  private func result(of outcome: OperationOutcome?, _ value: Value?) -> Result<Value, any Error> {
    if let error = outcome?.error { return .failure(error) }
    guard let value else { preconditionFailure("An operation that has succeeded has a value.") }
    return .success(value)
  }
}

extension ScheduledOperation {
  /// The name that the operation was scheduled with, or else its own name.
  ///
  /// Its own name is ``/OperationCore/OperationRequest/operationName``.
  public var name: String { self.erased.name }

  /// Whether the operation was cancelled. Its body may still run.
  public var isCancelled: Bool { self.erased.isCancelled }

  /// Whether the operation has ended.
  public var isFinished: Bool { self.erased.isFinished }

  /// Cancels the operation. One that has not begun ends at once, without running; its dependencies are ignored.
  ///
  /// An operation that runs is cancelled as a task is: its body decides when and how it ends.
  public func cancel() {
    self.node.cancel()
  }

  /// Makes the operation begin after another one, of any scheduler, has ended, however that one ends.
  ///
  /// A cycle is reported as ``/OperationCore/OperationWarning/Code/taskCycle``, and the operation fails with
  /// ``/OperationCore/OperationCycleError``. A dependency of an operation that has begun is reported and ignored.
  public func addDependency<Other>(_ other: ScheduledOperation<Other>) {
    self.node.addDependency(other.node)
  }

  /// Makes the operation begin after another one, of any scheduler, has ended, however that one ends.
  public func addDependency(_ other: AnyScheduledOperation) {
    self.node.addDependency(other.node)
  }

  /// Lets the operation begin without waiting for another one: see `AnyScheduledOperation.removeDependency(_:)`.
  public func removeDependency<Other>(_ other: ScheduledOperation<Other>) {
    self.node.removeDependency(other.node)
  }

  /// Lets the operation begin without waiting for another one: see `AnyScheduledOperation.removeDependency(_:)`.
  public func removeDependency(_ other: AnyScheduledOperation) {
    self.node.removeDependency(other.node)
  }

  /// The priority of the operation, which can be changed: see ``AnyScheduledOperation/priority``.
  public var priority: TaskPriority {
    get { self.erased.priority }
    set { self.node.setPriority(newValue.rawValue) }
  }

  /// Adds an observer.
  public func addObserver(_ observer: some OperationObserver) {
    self.node.addObserver(observer)
  }

  /// Adds an observer that calls closures.
  ///
  /// ```swift
  /// operation.observe {
  ///   $0.didStart { log("started") }
  ///   $0.didSucceed { value in log("value: \(value)") }
  ///   $0.didFail { error in log("error: \(error)") }
  /// }
  /// ```
  ///
  /// Each closure is called once, in order, with no lock held. An observer that is added late is notified at once
  /// of the start and of the end, if they have happened.
  public func observe(_ build: (inout OperationObservation<Value>) -> Void) {
    var observation = OperationObservation<Value>()
    build(&observation)
    // The operation releases its observers when it ends.
    self.node.addObserver(
      ClosureObserver(observation) { outcome in
        self.result(of: outcome, self.storedValue)
      }
    )
  }

  /// Schedules an operation in the same scheduler, as a product of this one, whose observers are notified.
  ///
  /// The product is not held back by vital operations that came after this one. This operation does not wait for it,
  /// but a group that this one is part of does. If this operation has ended, that is reported as
  /// ``OperationCore/OperationWarning/Code/addedAfterEnd``, and the product fails.
  @discardableResult
  public func produce<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    vital: Bool = false,
    priority: TaskPriority? = nil,
    named name: String? = nil
  ) -> ScheduledOperation<Operation.Value> where Operation.Value: Sendable {
    self.erased.produce(operation, vital: vital, priority: priority, named: name)
  }
}
