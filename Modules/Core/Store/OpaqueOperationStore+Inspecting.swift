// Members for tools that show the runs of any store, or end them.
extension OpaqueOperationStore {
  /// The type of the operation without its modifiers, as text.
  public var operationKind: String { "\(self.runtime.unmodifiedOperationType)" }

  /// Whether the operation may run without a call.
  public var allowsAutomaticRuns: Bool { self.runtime.allowsAutomaticRuns }

  /// The number of optimistic updates on top of the value.
  public var layerCount: Int { self.runtime.withMachine { $0.layers.count } }

  /// Waits until no run is under way, or the current task is cancelled.
  public func settled() async {
    await self.runtime.settled()
  }

  /// Cancels the runs under way.
  ///
  /// - Returns: A function that waits until the runs have ended, or the current task is cancelled.
  @discardableResult
  public func cancelRuns() -> @Sendable () async -> Void { self.runtime.cancelRuns() }
}
