extension OperationClient {
  /// Stops automatic runs for subscribers.
  ///
  /// Direct calls still run operations.
  package func stopAutomaticRuns() {
    _ = self.automaticRunsAreStopped.set(true)
  }

  /// Returns the stores whose operations are running.
  package func runningStores() -> [RunningStore] {
    self.storage.runtimes(matching: []).filter(\.isLoading).map { RunningStore(runtime: $0) }
  }

  /// A store whose operation was running when ``runningStores()`` was called.
  package struct RunningStore: Sendable {
    let runtime: StoreRuntime

    package var path: OperationPath { self.runtime.path }

    package var operationName: String { self.runtime.operationName }

    /// Whether the operation may run without a direct call.
    package var allowsAutomaticRuns: Bool { self.runtime.allowsAutomaticRuns }

    /// Waits until no run is under way or the current task is cancelled.
    package func settled() async {
      await self.runtime.settled()
    }

    /// Cancels all runs.
    ///
    /// - Returns: A function that waits until the runs have ended or the current task is cancelled.
    package func cancelRuns() -> @Sendable () async -> Void {
      self.runtime.cancelRuns()
    }
  }
}

extension OperationContext {
  /// Whether the client has stopped running operations automatically.
  var automaticRunsAreStopped: Bool { self.operationClient?.automaticRunsAreStopped.isOn ?? false }
}
