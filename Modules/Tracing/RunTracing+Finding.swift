#if SwiftOperationTracing
  internal import OperationCore

  /// A modifier that traces, whatever it traces.
  private protocol TracingModifier {}

  extension RunTracing: TracingModifier {}

  extension OperationRequest {
    /// Whether one of the modifiers around the operation traces it.
    static var isTraced: Bool { self.hasModifier { $0 is any TracingModifier.Type } }
  }
#endif
