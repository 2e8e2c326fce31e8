extension OperationClient {
  /// Runs nothing for subscribers from now on, whatever changes; who calls an operation still runs it.
  package func stopAutomaticRuns() {
    _ = self.automaticRunsAreStopped.set(true)
  }

  /// The stores whose operations run now.
  package func runningStores() -> [RunningStore] {
    self.storage.runtimes(matching: []).filter(\.isLoading).map { RunningStore(runtime: $0) }
  }

  /// A store whose operation runs, or has done so when it was looked at.
  package struct RunningStore: Sendable {
    let runtime: any ErasedRuntime

    package var path: OperationPath { self.runtime.path }

    package var operationName: String { self.runtime.operationName }

    /// Whether others than its callers may run the operation.
    package var canRunUnasked: Bool { self.runtime.canRunUnasked }

    /// Waits until no run is under way, or the current task is cancelled.
    package func settled() async {
      await self.runtime.settled()
    }

    /// Cancels all runs.
    ///
    /// - Returns: Waits until they have ended, or the current task is cancelled.
    package func cancelRuns() -> @Sendable () async -> Void {
      self.runtime.cancelRuns()
    }
  }
}

extension OperationContext {
  /// Whether the client has stopped running anything unasked.
  @usableFromInline
  var automaticRunsAreStopped: Bool { self.operationClient?.automaticRunsAreStopped.isOn ?? false }
}
