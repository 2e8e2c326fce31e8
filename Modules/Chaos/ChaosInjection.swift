public import OperationCore

/// Injects faults into the runs of an operation; applied by `.chaos(_:)`.
public struct ChaosInjection<Operation: OperationRequest>: OperationModifier {
  let chaos: Chaos
  let failure: @Sendable (ChaosFailure) -> Operation.Failure

  public var sourceText: String { ".chaos(_:)" }

  /// Runs the operation after the delay of the run's fault, or throws the failure instead.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    if context.operationChaos { try await self.inject(self.chaos.next(), isolation, context, operation) }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }

  private func inject(
    _ fault: Fault,
    _ isolation: isolated (any Actor)?,
    _ context: OperationContext,
    _ operation: Operation
  ) async throws(Operation.Failure) {
    if let delay = fault.delay {
      context.send(OperationNotice(.chaosLatency, of: operation, attributes: ["chaos.delay": .duration(delay)]))
      do {
        // A deadline inside ends the delay: the operation then fails at once.
        try await context.operationDeadlines.sleep(for: min(delay, context.timeUntilDeadlineInside ?? delay))
        if context.timeUntilDeadlineInside == .zero { return }
      } catch {
        // Only a cancellation ends a delay early. If it cannot be thrown, the operation runs, and is cancelled.
        guard let cancellation = error as? Operation.Failure else { return }
        throw cancellation
      }
    }
    if let failure = fault.failure {
      context.send(OperationNotice(.chaosFailure, of: operation, attributes: ["chaos.run": .integer(failure.run)]))
      throw self.failure(failure)
    }
  }
}

extension OperationNotice.Name {
  /// Chaos delays a run. The attribute `chaos.delay` is the delay.
  public static let chaosLatency = Self("chaos.latency")

  /// Chaos makes a run fail. The attribute `chaos.run` is the number of the run.
  public static let chaosFailure = Self("chaos.failure")
}
