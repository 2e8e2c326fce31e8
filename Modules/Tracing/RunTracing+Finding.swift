#if SwiftOperationTracing
  internal import OperationCore

  /// Identifies the modifier, whatever its operation type.
  private protocol TracingModifier {}

  extension RunTracing: TracingModifier {}

  extension OperationRequest {
    /// Whether one of the operation's modifiers traces it.
    static var isTraced: Bool { self.hasModifier { $0 is any TracingModifier.Type } }
  }
#endif
