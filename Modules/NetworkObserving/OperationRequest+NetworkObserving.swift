public import OperationCore

extension OperationRequest {
  /// Sets how well the network must be connected for the operation to run.
  ///
  /// - Parameter status: The lowest status that suffices. A status nearer to the operation replaces it.
  /// - Returns: The operation with the status in its context.
  public func satisfiedConnectionStatus(_ status: NetworkConnectionStatus) -> ContextModifiedOperation<Self> {
    self.context { $0.satisfiedConnectionStatus = status }.written(".satisfiedConnectionStatus(.\(status))")
  }

  /// Declares that the operation needs no network, so that ``NetworkConnectionRunSpecification`` always holds for it.
  ///
  /// - Parameter isOffline: Pass false if the operation needs the network, which is the default.
  /// - Returns: The operation with the setting in its context.
  public func completelyOffline(_ isOffline: Bool = true) -> ContextModifiedOperation<Self> {
    self.satisfiedConnectionStatus(isOffline ? .disconnected : .connected)
  }
}

extension OperationContext {
  /// How well the network must be connected for the operation to run. The default is `connected`.
  public var satisfiedConnectionStatus: NetworkConnectionStatus {
    get { self[SatisfiedConnectionStatusKey.self] }
    set { self[SatisfiedConnectionStatusKey.self] = newValue }
  }

  private enum SatisfiedConnectionStatusKey: Key {
    static let defaultValue = NetworkConnectionStatus.connected
  }
}
