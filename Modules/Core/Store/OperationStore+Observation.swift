// Members for modules that keep a copy of the state for observers.
extension OperationStore {
  /// The current state, with a number that differs if the value was changed without a change of its count, and the number of
  /// changes of the store: a state with a greater version is a later one.
  public var stateAndUncountedChanges: (state: State, uncountedChanges: UInt64, version: UInt64) {
    let (state, uncountedChanges, version) = self.runtime.stateAndUncountedChanges
    return (state.value(as: State.self), uncountedChanges, version)
  }

  /// Whether the current thread has exclusive access to the store.
  public var isExclusivelyAccessed: Bool { self.runtime.lock.isOwnedByCurrentThread }

  /// Performs an action that may call user code: now, or when the exclusive access of this thread ends.
  public func performAfterExclusiveAccess(_ action: @escaping @Sendable () -> Void) {
    self.runtime.act(action)
  }
}
