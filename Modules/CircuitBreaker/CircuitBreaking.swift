public import OperationCore

extension OperationRequest where Failure == any Error {
  /// Runs the operation only if a circuit breaker admits the run, and counts its result.
  ///
  /// A rejected run throws ``CircuitOpen`` at once and does not reach the operation.
  ///
  /// Write a timeout inside of the breaker, so that runs that take too long count as failures. Write a retry outside of
  /// it, so that each attempt counts and the retry waits for the breaker.
  ///
  /// - Parameter breaker: The breaker, which all operations that call the same service share.
  /// - Returns: The operation with the breaker around it.
  @inlinable
  public func circuitBreaker(_ breaker: CircuitBreaker) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    self.modifier(CircuitBreaking(breaker) { $0 })
  }
}

extension OperationRequest {
  /// Runs the operation only if a circuit breaker admits the run, and counts its result.
  ///
  /// Like ``circuitBreaker(_:)``, for operations whose `Failure` cannot be ``CircuitOpen``.
  ///
  /// - Parameters:
  ///   - breaker: The breaker, which all operations that call the same service share.
  ///   - failure: Returns the error of a rejected run.
  /// - Returns: The operation with the breaker around it.
  @inlinable
  public func circuitBreaker(
    _ breaker: CircuitBreaker,
    else failure: @escaping @Sendable (CircuitOpen) -> Failure
  ) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    self.modifier(CircuitBreaking(breaker, else: failure))
  }
}

/// The modifier that `.circuitBreaker(_:)` applies: a ``CircuitBreaker`` admits the runs of an operation.
public struct CircuitBreaking<Operation: OperationRequest>: OperationModifier {
  @usableFromInline let breaker: CircuitBreaker
  @usableFromInline let failure: @Sendable (CircuitOpen) -> Operation.Failure

  @inlinable
  init(_ breaker: CircuitBreaker, else failure: @escaping @Sendable (CircuitOpen) -> Operation.Failure) {
    self.breaker = breaker
    self.failure = failure
  }

  /// Runs the operation if the breaker admits the run.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    var generation = self.breaker.generationIfClosed
    if generation == 0 { generation = try self.generation(in: context, using: operation) }
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: context, with: continuation)
      self.breaker.recordSuccess(of: generation, in: context)
      return value
    } catch {
      self.breaker.recordFailure(error, of: generation, in: context)
      throw error
    }
  }

  // Not inlined: a breaker is rarely open.
  @inline(never)
  @usableFromInline
  func generation(
    in context: OperationContext,
    using operation: Operation
  ) throws(Operation.Failure) -> UInt64 {
    switch self.breaker.admit(in: context) {
    case .success(let generation): return generation
    case .failure(let error):
      context.send(self.breaker.notice(of: error, for: operation))
      throw self.failure(error)
    }
  }
}
