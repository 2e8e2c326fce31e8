#if SwiftOperationTracing
  public import OperationCore
  public import Tracing

  extension OperationRequest {
    /// Makes a span of each run, which its attempts are events of.
    ///
    /// The span is the current one while the operation runs, so spans that the body makes are its children, and it is the
    /// child of the span that was current where the run began. Applied inside of a retry it makes a span of each attempt.
    ///
    /// - Parameters:
    ///   - name: The name of the spans; nil for that of the operation: see `OperationRequest.operationName`.
    ///   - tracer: What makes them; nil for the tracer that the process has when a run begins.
    public func traced(
      _ name: String? = nil,
      by tracer: (any Tracer)? = nil
    ) -> ModifiedOperation<Self, RunTracing<Self>> {
      self.modifier(RunTracing(name: name, tracer: tracer))
    }
  }

  /// Makes spans of the runs of an operation: what `.traced(_:by:)` applies.
  public struct RunTracing<Operation: OperationRequest>: OperationModifier {
    let name: String?
    let tracer: (any Tracer)?

    public func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      let tracer = self.tracer ?? InstrumentationSystem.tracer
      let run = RunSpan(tracer.startAnySpan(self.name ?? operation.operationName), context)
      var editable = context
      editable.onNextAttempt { next, error in run.attemptBegan(next, after: error) }
      let context = editable
      let result = await InstrumentationContext.$current.withValue(run.span.context) {
        do throws(Operation.Failure) {
          let value = try await operation.run(isolation: isolation, in: context, with: continuation)
          return Result<Operation.Value, Operation.Failure>.success(value)
        } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success: run.end()
      case .failure(let error): run.end(with: error)
      }
      return try result.get()
    }
  }
#endif
