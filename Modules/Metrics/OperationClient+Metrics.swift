#if SwiftOperationMetrics
  public import OperationCore

  extension OperationContext {
    /// Measures the operations of all stores created with this context, outside of their other modifiers.
    ///
    /// An operation with its own ``OperationCore/OperationRequest/measured(_:by:)`` is not measured again. Notices that
    /// are sent with this context outside of a run, such as a journal's, are counted as well.
    ///
    /// - Parameter meters: The meters to use.
    public mutating func measureOperations(by meters: OperationMeters = .shared) {
      self.countNotices(by: meters.unmeasuredNotices)
      self.operationDecorators.append(MeasurementDecorator(meters: meters))
    }
  }

  extension OperationClient {
    /// Measures the operations of all stores that the client creates from now on, outside of their other modifiers.
    ///
    /// Call it once, when you create the client. See `OperationContext.measureOperations(by:)`.
    ///
    /// - Parameter meters: The meters to use.
    public func measureOperations(by meters: OperationMeters = .shared) {
      self.defaultContext.measureOperations(by: meters)
    }
  }

  /// Adds a measurement to the operations of stores.
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
