internal import FoundationEssentials

extension OperationContext {
  /// The entries that differ from run to run.
  struct RunEntries: Sendable {
    var taskIdentifier: OperationTaskIdentifier?
    var updateReason: OperationResultUpdateReason?
    var store: (any StoreReference)?
    var frozenDate: Date?
    /// Whether the run is made for the subscribers of its store, who then keep it alive.
    var isForSubscribers = false
  }

  /// The identifier of the task that is running with this context, or nil outside a run.
  public var operationRunningTaskIdentifier: OperationTaskIdentifier? {
    get { self.run.taskIdentifier }
    set { self.run.taskIdentifier = newValue }
  }

  /// Why a result was reported with this context: it was returned, or yielded. Nil where no result is reported.
  public var operationResultUpdateReason: OperationResultUpdateReason? {
    get { self.run.updateReason }
    set { self.run.updateReason = newValue }
  }

  /// The store that runs the operation with this context, or nil outside a run and after the store is gone.
  ///
  /// The context does not keep the store alive.
  public var runningOperationStore: OpaqueOperationStore? {
    self.run.store?.opaqueStore
  }
}

/// Why an operation reported a result.
public enum OperationResultUpdateReason: Hashable, Sendable {
  /// The run returned, and this is its outcome.
  case returnedFinalResult

  /// The run yielded, and goes on.
  case yieldedResult
}
