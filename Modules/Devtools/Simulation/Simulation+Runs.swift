#if SwiftOperationDevtools
  public import OperationCore

  extension Simulation {
    /// Creates a store creator for a client, in whose runs the latency and the failures are simulated.
    ///
    /// A retry of `base` makes further attempts after simulated failures.
    ///
    /// - Parameter base: Creates the stores.
    /// - Returns: The store creator.
    public func storeCreator(_ base: some OperationClient.StoreCreator) -> some OperationClient.StoreCreator {
      SimulatingStoreCreator(base: base, simulation: self)
    }
  }

  private struct SimulatingStoreCreator<Base: OperationClient.StoreCreator>: OperationClient.StoreCreator {
    let base: Base
    let simulation: Simulation

    func store<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      in context: OperationContext,
      with initialState: Operation.State
    ) -> OperationStore<Operation.State> {
      let simulated = operation.modifier(SimulatedConditions<Operation>(simulation: self.simulation))
      return self.base.store(for: simulated, in: context, with: initialState)
    }
  }

  /// Delays the attempts of an operation, and makes some of them fail, as a ``Simulation`` says.
  private struct SimulatedConditions<Operation: OperationRequest>: OperationModifier {
    let simulation: Simulation

    var sourceText: String { ".simulated()" }

    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      if let path = context.runningOperationStore?.path, self.simulation.isHeld(path) {
        _ = await context.pause(until: HeldRelease(simulation: self.simulation, path: path))
      }
      let conditions = self.simulation.nextAttempt()
      if conditions.latency > .zero {
        do {
          try await context.operationDeadlines.sleep(for: conditions.latency)
        } catch {
          // Only a cancellation ends the wait. If it cannot be thrown, the operation runs, and is cancelled.
          if let cancellation = error as? Operation.Failure { throw cancellation }
        }
      }
      if conditions.fails, let failure = SimulatedFailure() as? Operation.Failure { throw failure }
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
  }
#endif
