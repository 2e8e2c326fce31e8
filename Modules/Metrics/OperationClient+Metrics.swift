#if SwiftOperationMetrics
  public import OperationCore

  extension OperationContext {
    /// Measures the operations of all stores that are made with this context, outside of their other modifiers.
    ///
    /// An operation that is ``OperationCore/OperationRequest/measured(_:by:)`` by itself is not measured again.
    ///
    /// - Parameter meters: Where to count.
    public mutating func measureOperations(by meters: OperationMeters = .shared) {
      self.operationDecorators.append(MeasurementDecorator(meters: meters))
    }
  }

  extension OperationClient {
    /// Measures the operations of all stores that the client makes from now on, outside of their other modifiers.
    ///
    /// Call it once, when the client is made. See `OperationContext.measureOperations(by:)`.
    ///
    /// - Parameter meters: Where to count.
    public func measureOperations(by meters: OperationMeters = .shared) {
      self.defaultContext.measureOperations(by: meters)
    }
  }

  /// Measures the operations of stores.
  struct MeasurementDecorator: OperationDecorator {
    let meters: OperationMeters

    func decorated<Operation: StatefulOperationRequest>(
      _ operation: Operation
    ) -> any StatefulOperationRequest<Operation.State> {
      if Operation.hasMeasurement { return operation }
      return operation.measured(by: self.meters)
    }
  }
#endif
