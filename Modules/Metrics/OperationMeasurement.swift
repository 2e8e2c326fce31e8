#if SwiftOperationMetrics
  public import OperationCore

  extension OperationRequest {
    /// Measures the runs of the operation: how many, how long, how they end, and in a store who uses it.
    ///
    /// What is inside is seen: a run that is retried inside is one run with several attempts. Applied inside of a retry,
    /// each attempt counts as a run.
    ///
    /// - Parameters:
    ///   - name: The name in the metrics; nil for the type of the operation.
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

    private var metersOfOperation: Meters {
      self.meters.meters(of: self.name ?? "\(Operation.unmodifiedType)")
    }

    public func setup(context: inout OperationContext, using operation: Operation) {
      context.operationProbes.append(self.metersOfOperation)
      operation.setup(context: &context)
    }

    public func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      let meters = self.metersOfOperation
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
