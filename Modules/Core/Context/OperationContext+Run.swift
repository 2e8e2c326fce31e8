public import FoundationEssentials

extension OperationContext {
  /// The entries that differ from run to run.
  @usableFromInline
  struct RunEntries: Sendable {
    // The small ones come last, where they take no more room than they need.
    @usableFromInline var store: (any StoreReference)?
    /// Takes in what would run in the task of the run.
    @usableFromInline var loan: TaskLoan?
    /// Nil in a first attempt of which nobody wants to hear more.
    @usableFromInline var attempts: RunAttempts?
    /// What the state keeps with the run, if it does.
    @usableFromInline var attachment: (any RunAttachment)?
    @usableFromInline var taskIdentifier: OperationTaskIdentifier?
    /// Whether the run is made for the subscribers of its store, who then keep it alive.
    @usableFromInline var isForSubscribers = false

    @inlinable
    init() {}

    @inlinable
    var isEmpty: Bool {
      self.store == nil && self.loan == nil && self.attempts == nil && self.attachment == nil
        && self.taskIdentifier == nil && !self.isForSubscribers
    }
  }

  /// The entries that differ from event to event. They lie in the context itself, so that an event costs no allocation.
  @usableFromInline
  struct EventEntries: Sendable {
    @usableFromInline var frozenDate: Date?
    @usableFromInline var updateReason: OperationResultUpdateReason?
    @usableFromInline var hidesAttachment = false

    @inlinable
    init() {}
  }

  /// Becomes the context of a run.
  @inlinable
  mutating func enterRun(_ id: OperationTaskIdentifier, of store: any StoreReference, loan: TaskLoan?) {
    var run = RunEntries()
    run.taskIdentifier = id
    run.store = store
    run.loan = loan
    run.isForSubscribers = self.storage.run.isForSubscribers
    self.storage = Storage(slots: self.storage.slots, run: run)
  }

  /// Forgets the run, and the event in it, that the context comes from.
  @inlinable
  mutating func leaveRun() {
    self.event = EventEntries()
    // Writing would copy what other contexts share.
    if !self.run.isEmpty { self.run = RunEntries() }
  }

  /// The identifier of the task that is running with this context, or nil outside a run.
  @inlinable
  public var operationRunningTaskIdentifier: OperationTaskIdentifier? {
    get { self.run.taskIdentifier }
    set { self.run.taskIdentifier = newValue }
  }

  /// Takes in what would run in the task of the run.
  @inlinable
  package var taskLoan: TaskLoan? { self.run.loan }

  /// What the state keeps with the run. It stays with that: a context that is handed on does not take it along to another.
  @inlinable
  package var runAttachment: (any RunAttachment)? {
    get { self.event.hidesAttachment ? nil : self.run.attachment }
    set { self.run.attachment = newValue }
  }

  /// This context for those who may hand it on to what is no part of the run.
  @inlinable
  package func hidingRunAttachment() -> OperationContext {
    var context = self
    context.event.hidesAttachment = true
    return context
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

  /// The store that runs the operation with this context, where its state is of a certain type.
  @inlinable
  package func runningStore<State: OperationState & Sendable>(of state: State.Type) -> OperationStore<State>? {
    (self.run.store as? TypedStoreReference<State>)?.store
  }
}

/// Why an operation reported a result.
public enum OperationResultUpdateReason: Hashable, Sendable {
  /// The run returned, and this is its outcome.
  case returnedFinalResult

  /// The run yielded, and goes on.
  case yieldedResult
}
