#if SwiftOperationTracing
  internal import OperationCore

  /// A layer around an operation that can tell whether it is traced.
  private protocol TracingLayer {
    static var isTracedInside: Bool { get }
  }

  /// A modifier that traces.
  private protocol TracingModifier {}

  extension RunTracing: TracingModifier {}

  extension ModifiedOperation: TracingLayer {
    fileprivate static var isTracedInside: Bool {
      Modifier.self is any TracingModifier.Type || Operation.self.isTraced
    }
  }

  extension DefaultStateOperation: TracingLayer {
    fileprivate static var isTracedInside: Bool { Operation.self.isTraced }
  }

  extension OperationRequest {
    /// Whether one of the modifiers around the operation traces it.
    static var isTraced: Bool { (self as? any TracingLayer.Type)?.isTracedInside ?? false }
  }
#endif
