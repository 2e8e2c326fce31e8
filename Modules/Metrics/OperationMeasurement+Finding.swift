#if SwiftOperationMetrics
  internal import OperationCore

  /// A modifier that measures, whatever it measures.
  private protocol MeasurementModifier {}

  extension OperationMeasurement: MeasurementModifier {}

  extension OperationRequest {
    /// Whether one of the modifiers around the operation measures it.
    static var hasMeasurement: Bool { self.hasModifier { $0 is any MeasurementModifier.Type } }
  }
#endif
