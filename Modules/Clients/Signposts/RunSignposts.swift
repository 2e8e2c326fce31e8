#if canImport(os)
  public import os

  extension OperationRequest {
    /// Marks each run as an interval of a signposter, which Instruments shows in time.
    ///
    /// The interval has the name `run`, the name of the operation and its outcome, and each further attempt is an event in it.
    /// While the signposts are not recorded, a run only asks whether they are.
    ///
    /// - Parameter signposter: Emits the signposts.
    /// - Returns: The operation with an interval around each run.
    public func signposted(
      by signposter: OSSignposter = OSSignposter(subsystem: "swift-operation", category: "runs")
    ) -> ModifiedOperation<Self, RunSignposts<Self>> {
      self.modifier(RunSignposts(signposter: signposter))
    }
  }

  /// Emits signposts for the runs of an operation; applied by `.signposted(by:)`.
  public struct RunSignposts<Operation: OperationRequest>: OperationModifier {
    let signposter: OSSignposter

    public static var beginsAtOnce: Bool { true }

    public var sourceText: String { ".signposted()" }

    public func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      guard self.signposter.isEnabled else {
        return try await operation.run(isolation: isolation, in: context, with: continuation)
      }
      let (signposter, id, name) = (self.signposter, self.signposter.makeSignpostID(), operation.operationName)
      var context = context
      context.onNextAttempt { next, _ in
        let attempt = next.operationAttempt
        signposter.emitEvent("attempt", id: id, "\(name, privacy: .public), attempt \(attempt, privacy: .public)")
      }
      let interval = signposter.beginInterval("run", id: id, "\(name, privacy: .public)")
      do throws(Operation.Failure) {
        let value = try await operation.run(isolation: isolation, in: context, with: continuation)
        signposter.endInterval("run", interval, "succeeded")
        return value
      } catch {
        let outcome = error is CancellationError ? "cancelled" : "failed"
        signposter.endInterval("run", interval, "\(outcome, privacy: .public)")
        throw error
      }
    }
  }

  extension OperationContext {
    /// Emits signposts for the runs in all stores created with this context, outside of the operations' other modifiers.
    ///
    /// An operation with its own ``OperationRequest/signposted(by:)`` gets no second interval.
    ///
    /// - Parameter signposter: Emits the signposts.
    public mutating func signpostOperations(
      by signposter: OSSignposter = OSSignposter(subsystem: "swift-operation", category: "runs")
    ) {
      self.operationDecorators.append(SignpostDecorator(signposter: signposter))
    }
  }

  extension OperationClient {
    /// Emits signposts for the runs in all stores that the client creates from now on: see
    /// ``OperationRequest/signposted(by:)``.
    ///
    /// Call it once, when you create the client.
    ///
    /// - Parameter signposter: Emits the signposts.
    public func signpostOperations(
      by signposter: OSSignposter = OSSignposter(subsystem: "swift-operation", category: "runs")
    ) {
      self.defaultContext.signpostOperations(by: signposter)
    }
  }

  /// Adds signposts to the operations of stores.
  private struct SignpostDecorator: OperationDecorator {
    let signposter: OSSignposter

    func decorated<Operation: StatefulOperationRequest>(
      _ operation: Operation
    ) -> any StatefulOperationRequest<Operation.State> {
      if Operation.hasModifier(where: { $0 is any SignpostModifier.Type }) { return operation }
      return operation.signposted(by: self.signposter)
    }
  }

  /// Identifies the modifier, whatever its operation type.
  private protocol SignpostModifier {}

  extension RunSignposts: SignpostModifier {}
#endif
