internal import Synchronization

/// Identifies a modifier that bounds or replaces the outcome of an operation, such as a timeout or a fallback.
///
/// Retries that a client applies by default stand directly inside of the innermost of these modifiers. So it bounds
/// them, or replaces the failure of their last attempt. A modifier takes part in three steps:
///
/// ```swift
/// struct Patience<Operation: OperationRequest>: OperationModifier {
///   let id = OutcomeModifierIdentifier()
///
///   func setup(context: inout OperationContext, using operation: Operation) {
///     context.offersPlaceForAttempts(self.id)
///     operation.setup(context: &context)
///   }
///
///   func run(
///     isolation: isolated (any Actor)?,
///     in context: OperationContext,
///     using operation: Operation,
///     with continuation: OperationContinuation<Operation.Value, Operation.Failure>
///   ) async throws(Operation.Failure) -> Operation.Value {
///     try await operation.runWithAttempts(of: self.id, isolation: isolation, in: context, with: continuation)
///   }
/// }
/// ```
///
/// Copies of a modifier have one identifier.
public struct OutcomeModifierIdentifier: Hashable, Sendable {
  private let number: UInt64

  private static let last = Atomic<UInt64>(0)

  /// Creates an identifier that no other modifier has.
  public init() {
    self.number = Self.last.add(1, ordering: .relaxed).newValue
  }
}

extension OutcomeModifierIdentifier: CustomStringConvertible {
  /// The number of the identifier.
  public var description: String { "#\(self.number)" }
}

extension OperationContext {
  /// Offers a place for the attempts of a retry that a client applies by default.
  ///
  /// Call it in a modifier's setup, before the setup of the operation inside, whose own offer replaces this one.
  ///
  /// - Parameter id: The modifier, which runs its operation with
  ///   ``OperationRequest/runWithAttempts(of:until:isolation:in:with:)``.
  public mutating func offersPlaceForAttempts(_ id: OutcomeModifierIdentifier) {
    self.outcomePlan.innermost = id
  }
}

extension OperationRequest {
  /// Runs the operation, with the attempts of the client's retry if they have their place here.
  ///
  /// - Parameters:
  ///   - id: The modifier that has offered the place, and is around this operation.
  ///   - end: The time at which no further attempt may begin, by the elapsed time of
  ///     ``OperationContext/operationDeadlines``; nil for none.
  ///   - isolation: The actor to run on.
  ///   - context: The context of the run.
  ///   - continuation: Receives the results that the operation yields.
  /// - Returns: The value of the operation.
  /// - Throws: The error of its last attempt.
  @inlinable
  @inline(__always)
  public func runWithAttempts(
    of id: OutcomeModifierIdentifier,
    until end: Duration? = nil,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    guard context.hasPlacedAttempts, let maker = context.attemptMaker(for: id) else {
      return try await self.run(isolation: isolation, in: context, with: continuation)
    }
    return try await maker.makeAttempts(of: self, until: end, isolation: isolation, in: context, with: continuation)
  }
}

/// Runs an operation until an attempt succeeds, on behalf of a modifier outside of the caller.
@usableFromInline
package protocol AttemptMaker: Sendable {
  /// Runs the operation once or several times.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - end: The elapsed time at which no further attempt may begin; nil for none.
  ///   - isolation: The actor to run on.
  ///   - context: The context of the run.
  ///   - continuation: Receives the results that the operation yields.
  /// - Returns: The value of the operation.
  /// - Throws: The error of its last attempt.
  func makeAttempts<Operation: OperationRequest>(
    of operation: Operation,
    until end: Duration?,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value
}
