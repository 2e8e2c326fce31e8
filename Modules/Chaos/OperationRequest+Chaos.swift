public import OperationCore

extension OperationRequest where Failure == any Error {
  /// Injects faults into the runs of the operation, where ``OperationCore/OperationContext/operationChaos`` is on.
  ///
  /// Apply it first, so that all other modifiers see its faults. A failed run throws ``ChaosFailure`` and does not
  /// begin the operation.
  ///
  /// - Parameter chaos: The faults.
  /// - Returns: The operation with the faults around it.
  public func chaos(_ chaos: Chaos) -> ModifiedOperation<Self, ChaosInjection<Self>> {
    self.modifier(ChaosInjection(chaos: chaos, failure: { $0 }))
  }
}

extension OperationRequest {
  /// Injects faults into the runs of the operation, where ``OperationCore/OperationContext/operationChaos`` is on.
  ///
  /// Like ``chaos(_:)``, with errors of your own, such as those that the operation throws itself.
  ///
  /// - Parameters:
  ///   - chaos: The faults.
  ///   - failure: Returns the error of a failed run.
  /// - Returns: The operation with the faults around it.
  public func chaos(
    _ chaos: Chaos,
    else failure: @escaping @Sendable (ChaosFailure) -> Failure
  ) -> ModifiedOperation<Self, ChaosInjection<Self>> {
    self.modifier(ChaosInjection(chaos: chaos, failure: failure))
  }
}

extension OperationContext {
  /// Whether ``OperationCore/OperationRequest/chaos(_:)`` injects faults. The default is false.
  public var operationChaos: Bool {
    get { self[IsChaoticKey.self] }
    set { self[IsChaoticKey.self] = newValue }
  }

  private enum IsChaoticKey: Key {
    static let defaultValue = false
  }
}
