#if SwiftOperationMetrics
  public import OperationCore

  extension OperationRequest {
    /// Measures the runs of the operation: their number, duration and outcome, and, in a store, its subscribers.
    ///
    /// It measures everything that it is applied to: applied after a retry, it counts one run with several attempts.
    /// Applied before a retry, it counts each attempt as a run. The notices of the modifiers that it is applied to,
    /// such as timeouts and rejections, are counted by their names.
    ///
    /// - Parameters:
    ///   - name: The name in the metrics; nil for `OperationRequest.operationName`.
    ///   - meters: The meters to use.
    /// - Returns: The operation with the measurement around it.
    public func measured(
      _ name: String? = nil,
      by meters: OperationMeters = .shared
    ) -> ModifiedOperation<Self, OperationMeasurement<Self>> {
      self.modifier(OperationMeasurement(name: name, meters: meters))
    }
  }

  /// Measures the runs of an operation; applied by `.measured(_:by:)`.
  public struct OperationMeasurement<Operation: OperationRequest>: OperationModifier {
    let name: String?
    let meters: OperationMeters

    private func meters(of operation: Operation) -> Meters {
      self.meters.meters(of: self.name ?? operation.operationName)
    }

    public static var beginsAtOnce: Bool { true }

    public var sourceText: String { ".measured()" }

    public func setup(context: inout OperationContext, using operation: Operation) {
      let meters = self.meters(of: operation)
      context.operationObservers.append(meters)
      // The run does the same. Where this call has added the count already, the run does not copy the context.
      context.countNotices(by: meters.notices)
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
      context.countNotices(by: meters.notices)
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
