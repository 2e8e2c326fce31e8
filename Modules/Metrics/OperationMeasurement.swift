#if SwiftOperationMetrics
  public import OperationCore

  extension OperationRequest {
    /// Measures the runs of the operation: how many, how long, how they end, and in a store who uses it.
    ///
    /// What is inside is seen: a run that is retried inside is one run with several attempts. Applied inside of a retry,
    /// each attempt counts as a run.
    ///
    /// - Parameters:
    ///   - name: The name in the metrics; nil for that of the operation: see `OperationRequest.operationName`.
    ///   - meters: Where to count.
    public func measured(
      _ name: String? = nil,
      by meters: OperationMeters = .shared
    ) -> ModifiedOperation<Self, OperationMeasurement<Self>> {
      self.modifier(OperationMeasurement(name: name, meters: meters))
    }
  }

  /// Measures the runs of an operation: what `.measured(_:by:)` applies.
  public struct OperationMeasurement<Operation: OperationRequest>: OperationModifier {
    let name: String?
    let meters: OperationMeters

    private func meters(of operation: Operation) -> Meters {
      self.meters.meters(of: self.name ?? operation.operationName)
    }

    public func setup(context: inout OperationContext, using operation: Operation) {
      context.operationProbes.append(self.meters(of: operation))
      operation.setup(context: &context)
    }

    public func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      let meters = self.meters(of: operation)
      let deadlines = context.operationDeadlines
      let start = deadlines.elapsed
      var context = context
      context.onNextAttempt { _, _ in meters.retryBegan() }
      meters.runBegan()
      do throws(Operation.Failure) {
        let value = try await operation.run(isolation: isolation, in: context, with: continuation)
        meters.runEnded(after: deadlines.elapsed - start)
        return value
      } catch {
        meters.runEnded(after: deadlines.elapsed - start, with: error)
        throw error
      }
    }
  }
#endif
