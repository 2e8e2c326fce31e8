public import OperationCore
public import OperationFoundation

extension OperationRequest {
  /// Pauses a run that begins while a specification does not hold, until it holds.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).waits(until: .connected(to: observer))
  /// ```
  ///
  /// The run then goes on by itself. While it waits, it is loading, and ``/OperationCore/OperationState/isPaused`` is
  /// true. Nothing polls, and a paused run costs neither a thread nor a timer. If the run is cancelled, it ends at once
  /// with a `CancellationError`, and the state stays as it was; if `Failure` cannot represent that error, the operation
  /// runs in the cancelled task.
  ///
  /// - Parameter specification: What to wait for, evaluated in the context of the run.
  /// - Returns: The operation, whose runs wait.
  public func waits<Specification: OperationRunSpecification & Sendable>(
    until specification: Specification
  ) -> ModifiedOperation<Self, Waiting<Self, Specification>> {
    self.modifier(Waiting(specification: specification, timeout: nil, failure: nil))
  }

  /// Pauses a run that begins while a specification does not hold, until it holds or a time limit has passed.
  ///
  /// See ``OperationCore/OperationRequest/waits(until:)``.
  ///
  /// - Parameters:
  ///   - specification: What to wait for, evaluated in the context of the run.
  ///   - timeout: The longest time to wait, by ``/OperationCore/OperationContext/operationDeadlines``; nil for none. A
  ///     negative one is reported and counts as zero.
  ///   - failure: Returns the error of a run whose time limit has passed.
  /// - Returns: The operation, whose runs wait.
  public func waits<Specification: OperationRunSpecification & Sendable>(
    until specification: Specification,
    timeout: OperationDuration?,
    else failure: @escaping @Sendable (OperationWaitTimedOut) -> Failure
  ) -> ModifiedOperation<Self, Waiting<Self, Specification>> {
    self.modifier(Waiting(specification: specification, timeout: timeout, failure: failure))
  }
}

extension OperationRequest where Failure == any Error {
  /// Pauses a run that begins while a specification does not hold, until it holds or a time limit has passed.
  ///
  /// See ``OperationCore/OperationRequest/waits(until:)``. A run whose time limit has passed throws an
  /// ``OperationWaitTimedOut``.
  ///
  /// - Parameters:
  ///   - specification: What to wait for, evaluated in the context of the run.
  ///   - timeout: The longest time to wait, by ``/OperationCore/OperationContext/operationDeadlines``; nil for none. A
  ///     negative one is reported and counts as zero.
  /// - Returns: The operation, whose runs wait.
  public func waits<Specification: OperationRunSpecification & Sendable>(
    until specification: Specification,
    timeout: OperationDuration?
  ) -> ModifiedOperation<Self, Waiting<Self, Specification>> {
    self.modifier(Waiting(specification: specification, timeout: timeout) { $0 })
  }
}

/// The error of a run that was paused for longer than its time limit.
public struct OperationWaitTimedOut: LocalRejection, Hashable, Sendable, CustomStringConvertible {
  /// The time limit that has passed.
  public let duration: OperationDuration

  /// Creates an error.
  ///
  /// - Parameter duration: The time limit that has passed.
  public init(after duration: OperationDuration) {
    self.duration = duration
  }

  /// The time limit, in words.
  public var description: String {
    "The operation waited \(self.duration.roundedText) for a condition that did not become true."
  }
}

/// Pauses runs until a specification holds; applied by ``OperationCore/OperationRequest/waits(until:)``.
public struct Waiting<Operation: OperationRequest, Specification: OperationRunSpecification & Sendable>:
  OperationModifier
{
  private let specification: Specification
  private let timeout: OperationDuration?
  private let failure: (@Sendable (OperationWaitTimedOut) -> Operation.Failure)?

  init(
    specification: Specification,
    timeout: OperationDuration?,
    failure: (@Sendable (OperationWaitTimedOut) -> Operation.Failure)?
  ) {
    self.specification = specification
    self.timeout = timeout.map { $0.reportedIfNegative(in: "waits(until:timeout:)") }
    self.failure = failure
  }

  public var sourceText: String {
    ".waits(until: \(Specification.self)\(self.timeout.map { ", timeout: \($0.roundedText)" } ?? ""))"
  }

  /// Pauses the run if the specification does not hold, and then runs the operation.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    switch await context.pause(until: self.specification, timeout: self.timeout) {
    case .satisfied: break
    case .cancelled: if let error = CancellationError() as? Operation.Failure { throw error }
    case .timedOut:
      // If a deadline inside has passed, the operation fails at once, with the error of that deadline.
      if let timeout, let failure, context.timeUntilDeadlineInside != .zero {
        throw failure(OperationWaitTimedOut(after: timeout))
      }
    }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationWaitTimedOut: LocalizedError {
  public var errorDescription: String? { self.description }
}
