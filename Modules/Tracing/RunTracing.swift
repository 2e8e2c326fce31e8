#if SwiftOperationTracing
  public import OperationCore
  public import Tracing

  extension OperationRequest {
    /// Creates a span for each run, with an event for each attempt and each notice, such as a timeout.
    ///
    /// The attribute `operation.cause` is the kind of the run's cause, such as `polling`, and `operation.invalidated_by` the
    /// name of the mutation whose invalidation has caused it.
    ///
    /// The span is current while the operation runs, so spans created in its body are its children. Its parent is the
    /// span that was current where the run started. Applied before a retry, it creates a span for each attempt.
    ///
    /// - Parameters:
    ///   - name: The name of the spans; nil for `OperationRequest.operationName`.
    ///   - tracer: Creates the spans; nil for the tracer that the process has when a run starts.
    /// - Returns: The operation with a span around each run.
    public func traced(
      _ name: String? = nil,
      by tracer: (any Tracer)? = nil
    ) -> ModifiedOperation<Self, RunTracing<Self>> {
      self.modifier(RunTracing(name: name, tracer: tracer))
    }
  }

  /// Creates spans for the runs of an operation; applied by `.traced(_:by:)`.
  public struct RunTracing<Operation: OperationRequest>: OperationModifier {
    let name: String?
    let tracer: (any Tracer)?

    public static var beginsAtOnce: Bool { true }

    public var sourceText: String { ".traced()" }

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
      editable.addNotices(to: run.span)
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
