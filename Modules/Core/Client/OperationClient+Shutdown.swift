extension OperationClient {
  /// Stops automatic runs for subscribers, for the rest of the client's life.
  ///
  /// Direct calls still run operations. A journal of mutations makes no stored call any more that has no caller; callers
  /// whose calls wait behind one get an error, and their calls stay in the journal. A program that shuts down calls it,
  /// then waits for ``runningStores()``.
  public func stopAutomaticRuns() {
    _ = self.automaticRunsAreStopped.set(true)
    for attachment in self.flushables { attachment.automaticRunsDidStop() }
  }

  /// Returns the stores whose operations are running.
  ///
  /// - Complexity: O(*n*) in the number of stores.
  public func runningStores() -> [OpaqueOperationStore] {
    self.storage.runtimes(matching: []).filter(\.isLoading).compactMap(\.reference.store)
  }
}

extension OperationContext {
  /// Whether the client has stopped running operations automatically.
  var automaticRunsAreStopped: Bool { self.operationClient?.automaticRunsAreStopped.isOn ?? false }
}
