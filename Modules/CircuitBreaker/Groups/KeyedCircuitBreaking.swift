public import OperationCore

extension OperationRequest where Failure == any Error {
  /// Runs the operation only if the circuit breaker of its key admits the run, and counts its result there.
  ///
  /// Like ``circuitBreaker(_:)``, with a breaker for each host, shard or tenant.
  ///
  /// - Parameters:
  ///   - breakers: The breakers, which all operations that call the same service share.
  ///   - failures: Which values count as failures of the service; nil if none does.
  ///   - key: The key of a run, such as the host that it calls. Called before each run, while no lock is held.
  /// - Returns: The operation with the breakers around it.
  public func circuitBreaker(
    _ breakers: CircuitBreakers,
    failingOn failures: CircuitBreaker.FailureValues<Value>? = nil,
    by key: @escaping @Sendable (Self, OperationContext) -> String
  ) -> ModifiedOperation<Self, KeyedCircuitBreaking<Self>> {
    self.modifier(KeyedCircuitBreaking(breakers, failures?.contains, key) { $0 })
  }
}

extension OperationRequest {
  /// Runs the operation only if the circuit breaker of its key admits the run, and counts its result there.
  ///
  /// Like `circuitBreaker(_:failingOn:by:)`, for operations whose `Failure` cannot be ``CircuitOpen``.
  ///
  /// - Parameters:
  ///   - breakers: The breakers, which all operations that call the same service share.
  ///   - failures: Which values count as failures of the service; nil if none does.
  ///   - key: The key of a run, such as the host that it calls. Called before each run, while no lock is held.
  ///   - failure: Returns the error of a rejected run, and of one that is cancelled while it waits if `Failure` cannot be
  ///     a `CancellationError`.
  /// - Returns: The operation with the breakers around it.
  public func circuitBreaker(
    _ breakers: CircuitBreakers,
    failingOn failures: CircuitBreaker.FailureValues<Value>? = nil,
    by key: @escaping @Sendable (Self, OperationContext) -> String,
    else failure: @escaping @Sendable (CircuitOpen) -> Failure
  ) -> ModifiedOperation<Self, KeyedCircuitBreaking<Self>> {
    self.modifier(KeyedCircuitBreaking(breakers, failures?.contains, key, else: failure))
  }
}

/// The modifier that `.circuitBreaker(_:failingOn:by:)` applies: a breaker of ``CircuitBreakers`` admits each run.
public struct KeyedCircuitBreaking<Operation: OperationRequest>: OperationModifier {
  let breakers: CircuitBreakers
  private let isFailure: (@Sendable (Operation.Value) -> Bool)?
  private let key: @Sendable (Operation, OperationContext) -> String
  private let failure: @Sendable (CircuitOpen) -> Operation.Failure

  init(
    _ breakers: CircuitBreakers,
    _ isFailure: (@Sendable (Operation.Value) -> Bool)?,
    _ key: @escaping @Sendable (Operation, OperationContext) -> String,
    else failure: @escaping @Sendable (CircuitOpen) -> Operation.Failure
  ) {
    self.breakers = breakers
    self.isFailure = isFailure
    self.key = key
    self.failure = failure
  }

  public var sourceText: String { ".circuitBreaker(\(self.breakers.name ?? "_:"), by: …)" }

  /// Runs the operation if the breaker of its key admits the run.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let breaker = self.breakers.breaker(for: self.key(operation, context), in: context)
    let breaking = CircuitBreaking<Operation>(breaker, failingOn: self.isFailure, else: self.failure)
    return try await breaking.run(isolation: isolation, in: context, using: operation, with: continuation)
  }
}
