#if SwiftOperationServiceLifecycle
  internal import OperationCore

  /// The runs that a shutdown has cancelled, and closures that wait until they have ended.
  struct CancelledRuns {
    private(set) var runs: [OperationShutdownReport.Run] = []
    private var listed: Set<OperationShutdownReport.Run> = []
    private var waits: [@Sendable () async -> Void] = []

    /// Cancels the runs of stores. A store that is cancelled again is listed only once.
    mutating func cancelRuns(of stores: [OpaqueOperationStore]) {
      for store in stores {
        let run = OperationShutdownReport.Run(store)
        if self.listed.insert(run).inserted { self.runs.append(run) }
        self.waits.append(store.cancelRuns())
      }
    }

    /// Waits until all cancelled runs have ended, or the current task is cancelled.
    func waitUntilEnded() async {
      for wait in self.waits { await wait() }
    }
  }

  extension OperationShutdownReport.Run {
    init(_ store: OpaqueOperationStore) {
      self.init(path: store.path, kind: store.operationName, isMutation: !store.allowsAutomaticRuns)
    }
  }
#endif
