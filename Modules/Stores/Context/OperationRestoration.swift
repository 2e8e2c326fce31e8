extension StoreRuntime {
  /// Whether a level is being asked for the value of the store.
  var isRestoring: Bool { self.context.storeLevels.contains { $0.isRestoring } }

  /// Waits until the levels have answered, at most for as long as that may take.
  ///
  /// - Returns: Whether it had to wait: what was known of the state before may be wrong.
  nonisolated(nonsending) func restored() async -> Bool {
    let asked = self.context.storeLevels.filter(\.isRestoring)
    for level in asked { await level.restored() }
    return !asked.isEmpty
  }
}

extension OperationStore {
  /// Waits until the kept value was read, at most for as long as that may take, or until the task is cancelled.
  ///
  /// - Returns: Whether it had to wait, so that the state may have changed.
  @discardableResult
  public nonisolated(nonsending) func restored() async -> Bool { await self.runtime.restored() }
}

extension StoreCall {
  /// Waits until the kept value of the store was read, at most for as long as that may take, or until the task is
  /// cancelled. An interceptor calls it before it looks for a value in the state.
  public nonisolated(nonsending) func stateWasRestored() async { _ = await self.runtime.restored() }
}

extension OperationContext {
  /// How long the automatic runs of a store wait for its kept value; 1 s by default.
  ///
  /// The deadlines of the context measure it. A value that arrives later is still shown, unless the store has a newer
  /// one. Runs that a caller starts do not wait.
  public var operationRestorationLimit: Duration {
    get { self[RestorationLimitKey.self] }
    set { self[RestorationLimitKey.self] = newValue }
  }

  private enum RestorationLimitKey: Key {
    static let defaultValue = Duration.seconds(1)
  }
}
