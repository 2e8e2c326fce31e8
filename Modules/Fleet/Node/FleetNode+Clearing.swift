public import OperationCore

extension FleetNode: OperationClientClearing {
  public var remainingUntilCleared: [ClearingError.Remaining] { [.fleet(self.settings.nodeName)] }

  /// Waits until the backend knows that everything was invalidated.
  ///
  /// ``discardPreloaded(matching:)`` has invalidated it before. While the backend is away, it is told when it is back.
  public nonisolated(nonsending) func clear() async -> [ClearingError.Remaining] {
    await self.flush() ? [] : self.remainingUntilCleared
  }
}
