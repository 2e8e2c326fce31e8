#if SwiftOperationServiceLifecycle
  internal import OperationCore

  /// The runs that a shutdown has cancelled, and closures that wait for their ends.
  struct ShutdownEnding {
    private(set) var runs: [OperationShutdownReport.Run] = []
    private var ends: [@Sendable () async -> Void] = []

    /// Cancels the runs of stores. A store that is cancelled again is listed only once.
    mutating func cutOff(_ stores: [OperationClient.RunningStore]) {
      for store in stores {
        let run = OperationShutdownReport.Run(store)
        if !self.runs.contains(run) { self.runs.append(run) }
        self.ends.append(store.cancelRuns())
      }
    }

    /// Waits until all cancelled runs have ended, or the current task is cancelled.
    func allHaveEnded() async {
      for end in self.ends { await end() }
    }
  }

  extension OperationShutdownReport.Run {
    init(_ store: OperationClient.RunningStore) {
      self.init(path: store.path, kind: store.operationName, isMutation: !store.canRunUnasked)
    }
  }
#endif
