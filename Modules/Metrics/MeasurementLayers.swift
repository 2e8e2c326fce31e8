#if SwiftOperationMetrics
  internal import OperationCore

  /// A layer around an operation that can tell whether there is a measurement in it.
  private protocol MeasurementLayer {
    static var hasMeasurementInside: Bool { get }
  }

  /// A modifier that measures.
  private protocol MeasurementModifier {}

  extension OperationMeasurement: MeasurementModifier {}

  extension ModifiedOperation: MeasurementLayer {
    fileprivate static var hasMeasurementInside: Bool {
      Modifier.self is any MeasurementModifier.Type || Operation.self.hasMeasurement
    }
  }

  extension DefaultStateOperation: MeasurementLayer {
    fileprivate static var hasMeasurementInside: Bool { Operation.self.hasMeasurement }
  }

  extension OperationRequest {
    /// Whether one of the modifiers around the operation measures it.
    static var hasMeasurement: Bool { (self as? any MeasurementLayer.Type)?.hasMeasurementInside ?? false }
  }
#endif
