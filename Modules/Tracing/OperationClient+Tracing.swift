#if SwiftOperationTracing
  public import OperationCore
  public import Tracing

  extension OperationContext {
    /// Makes a span of each run in the stores that are made with this context, outside of the operations' other modifiers.
    ///
    /// An operation that is ``OperationCore/OperationRequest/traced(_:by:)`` by itself is not traced again.
    ///
    /// - Parameter tracer: What makes the spans; nil for the tracer that the process has when a run begins.
    public mutating func traceOperations(by tracer: (any Tracer)? = nil) {
      self.operationDecorators.append(TracingDecorator(tracer: tracer))
    }
  }

  extension OperationClient {
    /// Makes a span of each run in the stores that the client makes from now on, outside of their operations' other modifiers.
    ///
    /// Call it once, when the client is made. See `OperationContext.traceOperations(by:)`.
    ///
    /// - Parameter tracer: What makes the spans; nil for the tracer that the process has when a run begins.
    public func traceOperations(by tracer: (any Tracer)? = nil) {
      self.defaultContext.traceOperations(by: tracer)
    }
  }

  /// Traces the operations of stores.
  struct TracingDecorator: OperationDecorator {
    let tracer: (any Tracer)?

    func decorated<Operation: StatefulOperationRequest>(
      _ operation: Operation
    ) -> any StatefulOperationRequest<Operation.State> {
      if Operation.isTraced { return operation }
      return operation.traced(by: self.tracer)
    }
  }
#endif
