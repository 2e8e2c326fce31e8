#if SwiftOperationTracing
  public import OperationCore
  public import Tracing

  extension OperationContext {
    /// Traces the runs in all stores created with this context, outside of the operations' other modifiers.
    ///
    /// An operation with its own ``OperationCore/OperationRequest/traced(_:by:)`` is not traced again.
    ///
    /// - Parameter tracer: Creates the spans; nil for the tracer that the process has when a run starts.
    public mutating func traceOperations(by tracer: (any Tracer)? = nil) {
      self.operationDecorators.append(TracingDecorator(tracer: tracer))
    }
  }

  extension OperationClient {
    /// Traces the runs in all stores that the client creates from now on, outside of the operations' other modifiers.
    ///
    /// Call it once, when you create the client. See `OperationContext.traceOperations(by:)`.
    ///
    /// - Parameter tracer: Creates the spans; nil for the tracer that the process has when a run starts.
    public func traceOperations(by tracer: (any Tracer)? = nil) {
      self.defaultContext.traceOperations(by: tracer)
    }
  }

  /// Adds tracing to the operations of stores.
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
