public import FoundationEssentials

extension OperationContext {
  /// The entries that differ from run to run.
  @usableFromInline
  struct RunEntries: Sendable {
    @usableFromInline var taskIdentifier: OperationTaskIdentifier?
    @usableFromInline var store: (any StoreReference)?
    /// Whether the run is made for the subscribers of its store, who then keep it alive.
    @usableFromInline var isForSubscribers = false
    /// Nil in a first attempt of which nobody wants to hear more.
    @usableFromInline var attempts: RunAttempts?

    @inlinable
    init() {}
  }

  /// The entries that differ from event to event. They lie in the context itself, so that an event costs no allocation.
  @usableFromInline
  struct EventEntries: Sendable {
    @usableFromInline var frozenDate: Date?
    @usableFromInline var updateReason: OperationResultUpdateReason?

    @inlinable
    init() {}
  }

  /// Becomes the context of a run.
  @inlinable
  mutating func enterRun(_ id: OperationTaskIdentifier, of store: any StoreReference) {
    var run = RunEntries()
    run.taskIdentifier = id
    run.store = store
    run.isForSubscribers = self.storage.run.isForSubscribers
    self.storage = Storage(slots: self.storage.slots, run: run)
  }

  /// Forgets the run, and the event in it, that the context comes from.
  @inlinable
  mutating func leaveRun() {
    self.event = EventEntries()
    if self.storage !== Self.empty { self.run = RunEntries() }
  }

  /// The identifier of the task that is running with this context, or nil outside a run.
  @inlinable
  public var operationRunningTaskIdentifier: OperationTaskIdentifier? {
    get { self.run.taskIdentifier }
    set { self.run.taskIdentifier = newValue }
  }

  /// Why a result was reported with this context: it was returned, or yielded. Nil where no result is reported.
  @inlinable
  public var operationResultUpdateReason: OperationResultUpdateReason? {
    get { self.event.updateReason }
    set { self.event.updateReason = newValue }
  }

  /// The store that runs the operation with this context, or nil outside a run and after the store is gone.
  ///
  /// The context does not keep the store alive.
  @inlinable
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
