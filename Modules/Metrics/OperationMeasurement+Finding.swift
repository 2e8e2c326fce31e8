#if SwiftOperationMetrics
  internal import OperationCore

  /// Identifies the modifier, whatever its operation type.
  private protocol MeasurementModifier {}

  extension OperationMeasurement: MeasurementModifier {}

  extension OperationRequest {
    /// Whether one of the operation's modifiers measures it.
    static var hasMeasurement: Bool { self.hasModifier { $0 is any MeasurementModifier.Type } }
  }
#endif
