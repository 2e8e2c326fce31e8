public import OperationCore

extension OperationRequest where Failure == any Error {
  /// Runs the operation only if a circuit breaker admits the run, and counts its result.
  ///
  /// A rejected run throws ``CircuitOpen`` and does not reach the operation. While the breaker is half-open, a run beside
  /// the probes waits for their result.
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

  /// Runs the operation only if a circuit breaker admits the run, and counts some of its values as failures.
  ///
  /// Like ``circuitBreaker(_:)``, for services that report a failure in their answer, such as by a status:
  ///
  /// ```swift
  /// let answer = StatusQuery().circuitBreaker(breaker, failingOn: .where { $0.status >= 500 })
  /// ```
  ///
  /// - Parameters:
  ///   - breaker: The breaker, which all operations that call the same service share.
  ///   - failures: Which values count as failures of the service. The run returns them in any case.
  /// - Returns: The operation with the breaker around it.
  @inlinable
  public func circuitBreaker(
    _ breaker: CircuitBreaker,
    failingOn failures: CircuitBreaker.FailureValues<Value>
  ) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    self.modifier(CircuitBreaking(breaker, failingOn: failures.contains) { $0 })
  }
}

extension OperationRequest {
  /// Runs the operation only if a circuit breaker admits the run, and counts its result.
  ///
  /// Like ``circuitBreaker(_:)``, for operations whose `Failure` cannot be ``CircuitOpen``.
  ///
  /// - Parameters:
  ///   - breaker: The breaker, which all operations that call the same service share.
  ///   - failure: Returns the error of a rejected run, and of one that is cancelled while it waits if `Failure` cannot be
  ///     a `CancellationError`.
  /// - Returns: The operation with the breaker around it.
  @inlinable
  public func circuitBreaker(
    _ breaker: CircuitBreaker,
    else failure: @escaping @Sendable (CircuitOpen) -> Failure
  ) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    self.modifier(CircuitBreaking(breaker, else: failure))
  }

  /// Runs the operation only if a circuit breaker admits the run, and counts some of its values as failures.
  ///
  /// Like `circuitBreaker(_:failingOn:)`, for operations whose `Failure` cannot be ``CircuitOpen``.
  ///
  /// - Parameters:
  ///   - breaker: The breaker, which all operations that call the same service share.
  ///   - failures: Which values count as failures of the service. The run returns them in any case.
  ///   - failure: Returns the error of a rejected run, and of one that is cancelled while it waits if `Failure` cannot be
  ///     a `CancellationError`.
  /// - Returns: The operation with the breaker around it.
  @inlinable
  public func circuitBreaker(
    _ breaker: CircuitBreaker,
    failingOn failures: CircuitBreaker.FailureValues<Value>,
    else failure: @escaping @Sendable (CircuitOpen) -> Failure
  ) -> ModifiedOperation<Self, CircuitBreaking<Self>> {
    self.modifier(CircuitBreaking(breaker, failingOn: failures.contains, else: failure))
  }
}

/// The modifier that `.circuitBreaker(_:)` applies: a ``CircuitBreaker`` admits the runs of an operation.
public struct CircuitBreaking<Operation: OperationRequest>: OperationModifier {
  @usableFromInline let breaker: CircuitBreaker
  @usableFromInline let isFailure: (@Sendable (Operation.Value) -> Bool)?
  @usableFromInline let failure: @Sendable (CircuitOpen) -> Operation.Failure

  @inlinable
  init(
    _ breaker: CircuitBreaker,
    failingOn isFailure: (@Sendable (Operation.Value) -> Bool)? = nil,
    else failure: @escaping @Sendable (CircuitOpen) -> Operation.Failure
  ) {
    self.breaker = breaker
    self.isFailure = isFailure
    self.failure = failure
  }

  public var sourceText: String { ".circuitBreaker(\(self.breaker.name ?? "_:"))" }

  /// Runs the operation if the breaker admits the run.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let generation = self.breaker.generationIfClosed
    guard generation != 0 else {
      return try await self.runIfAdmitted(isolation: isolation, in: context, using: operation, with: continuation)
    }
    let start = self.breaker.start(in: context)
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: context, with: continuation)
      self.record(value, of: generation, since: start, in: context)
      return value
    } catch {
      self.breaker.recordFailure(error, of: generation, since: start, in: context)
      throw error
    }
  }
}

extension CircuitBreaking {
  @inlinable
  func record(_ value: Operation.Value, of generation: UInt64, since start: Duration?, in context: OperationContext) {
    if let isFailure, isFailure(value) {
      self.breaker.recordFailedValue(of: generation, since: start, in: context)
    } else {
      self.breaker.recordSuccess(of: generation, since: start, in: context)
    }
  }
}

// MARK: - Breakers that are not closed

extension CircuitBreaking {
  // Not inlined: a breaker is rarely open, and the frame of other runs has no room for the wait.
  @inline(never)
  @usableFromInline
  func runIfAdmitted(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let admission = try await self.admission(in: context, using: operation)
    let start = self.breaker.start(in: context)
    let outcome: Result<Operation.Value, Operation.Failure>
    if admission.isProbe {
      let place = CircuitProbePlace(of: admission.generation, in: self.breaker)
      let probed = CircuitBreaker.probed + [ObjectIdentifier(self.breaker)]
      outcome = await withTaskCancellationHandler {
        await CircuitBreaker.$probed.withValue(probed) {
          await self.outcome(isolation: isolation, in: context, using: operation, with: continuation)
        }
      } onCancel: {
        place.giveBack(in: context)
      }
      guard place.end() else { return try outcome.get() }
    } else {
      outcome = await self.outcome(isolation: isolation, in: context, using: operation, with: continuation)
    }
    switch outcome {
    case .success(let value): self.record(value, of: admission.generation, since: start, in: context)
    case .failure(let error):
      self.breaker.recordFailure(error, of: admission.generation, since: start, in: context)
    }
    return try outcome.get()
  }

  private nonisolated(nonsending) func admission(
    in context: OperationContext,
    using operation: Operation
  ) async throws(Operation.Failure) -> CircuitAdmission {
    do {
      return try await self.breaker.admission(in: context)
    } catch let error as CircuitOpen {
      context.send(self.breaker.notice(of: error, for: operation))
      throw self.failure(error)
    } catch {
      throw error as? Operation.Failure ?? self.failure(CircuitOpen(retryAfter: nil, name: self.breaker.name))
    }
  }

  private func outcome(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async -> Result<Operation.Value, Operation.Failure> {
    do throws(Operation.Failure) {
      return .success(try await operation.run(isolation: isolation, in: context, with: continuation))
    } catch {
      return .failure(error)
    }
  }
}
