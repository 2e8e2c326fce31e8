internal import OperationFoundation

extension OperationContext {
  /// The entries of one run.
  struct RunEntries: Sendable {
    // The small fields come last, which avoids padding.
    var store: StoreReference?
    /// The waits of the run's work; nil if the callers of the store do not share its runs.
    var waits: RunWaits?
    /// The attempts of the run; nil in a first attempt without listeners.
    var attempts: RunAttempts?
    /// An object that the state attached to the run.
    var attachment: (any RunAttachment)?
    /// Why the run has begun; nil for a plain call.
    var origin: RunOrigin?
    /// Entries for the event of the run's outcome; nil unless a modifier of the operation adds some.
    var outcomeEntries: OutcomeEntries?
    var taskIdentifier: OperationTaskIdentifier?
    /// Whether the run is also made for the subscribers of its store, which then own it.
    var isForSubscribers = false
    /// Whether a modifier of the operation may make further attempts.
    var makesAttempts = false
    /// Whether attempts and pauses with this context are hidden from the store, because they are another operation's.
    var hidesProgress = false
    /// Whether a store has decided which callers share the run.
    var isAdmitted = false

    init() {}

    var isEmpty: Bool {
      self.store == nil && self.waits == nil && self.attempts == nil && self.attachment == nil
        && self.origin == nil && self.outcomeEntries == nil && self.taskIdentifier == nil && !self.isForSubscribers
        && !self.makesAttempts
        && !self.hidesProgress && !self.isAdmitted
    }
  }

  /// The entries of one event. They are stored in the context itself, so that an event costs no allocation.
  // Few fields: see ``ValueStamp``.
  struct EventEntries: Sendable {
    private struct Flags: OptionSet {
      static let isReturned = Self(rawValue: 1)
      static let isYielded = Self(rawValue: 2)
      static let hidesAttachment = Self(rawValue: 4)
      static let isOfNewStore = Self(rawValue: 8)

      var rawValue: UInt8
    }

    /// The time of ``frozenDate`` in seconds since the reference date; not a number without one.
    private var frozenSeconds = Double.nan
    /// What is known of the value that the event sets.
    var stamp = ValueStamp(.final)
    private var flags: Flags = []

    init() {}

    /// The date that the clock of the context shows; nil while the clock runs.
    var frozenDate: Date? {
      get { self.frozenSeconds.isNaN ? nil : Date(timeIntervalSinceReferenceDate: self.frozenSeconds) }
      set { self.frozenSeconds = newValue?.timeIntervalSinceReferenceDate ?? .nan }
    }

    /// How the result came that the event reports; nil if it reports none.
    var updateReason: OperationResultUpdateReason? {
      get {
        if self.flags.contains(.isReturned) { return .returnedFinalResult }
        return self.flags.contains(.isYielded) ? .yieldedResult : nil
      }
      set {
        self.flags.subtract([.isReturned, .isYielded])
        switch newValue {
        case .returnedFinalResult?: self.flags.insert(.isReturned)
        case .yieldedResult?: self.flags.insert(.isYielded)
        case nil: break
        }
      }
    }

    var hidesAttachment: Bool {
      get { self.flags.contains(.hidesAttachment) }
      set { if newValue { self.flags.insert(.hidesAttachment) } else { self.flags.remove(.hidesAttachment) } }
    }

    /// Whether a client makes a store with this context, and is about to take it.
    var isOfNewStore: Bool {
      get { self.flags.contains(.isOfNewStore) }
      set { if newValue { self.flags.insert(.isOfNewStore) } else { self.flags.remove(.isOfNewStore) } }
    }
  }

  /// Makes this the context of a run, replacing the entries of any other run.
  mutating func enterRun(_ id: OperationTaskIdentifier, of store: StoreReference, waits: RunWaits?) {
    // Written field by field: an initializer with all entries would copy them, which takes 250 instructions.
    let storage = Storage(Content(slots: self.storage.content.slots))
    storage.content.run.taskIdentifier = id
    storage.content.run.store = store
    storage.content.run.waits = waits
    storage.content.run.isAdmitted = waits != nil
    storage.content.setupEntryCount = self.storage.content.setupEntryCount
    storage.content.run.origin = self.storage.content.run.origin
    storage.content.run.isForSubscribers = self.storage.content.run.isForSubscribers
    storage.content.run.makesAttempts = self.storage.content.run.makesAttempts
    if self.addsToOutcomes { storage.content.run.outcomeEntries = OutcomeEntries() }
    self.storage = storage
  }

  /// Removes the entries of the run and of the event that this context belongs to.
  @usableFromInline
  package mutating func leaveRun() {
    let isOfNewStore = self.event.isOfNewStore
    self.event = EventEntries()
    self.event.isOfNewStore = isOfNewStore
    // A write would copy storage that other contexts share.
    if !self.run.isEmpty { self.run = RunEntries() }
  }

  /// Removes the entries of the run and of the event. Entries from the setup of the operation stay.
  mutating func leaveRunOfSameStore() {
    let makesAttempts = self.run.makesAttempts
    self.leaveRun()
    self.operationMakesAttempts = makesAttempts
  }

  /// Whether the store was invalidated, reset, or has cancelled this run since it began: no result of the run will be
  /// the answer.
  ///
  /// A body that lasts may ask, and end. The store runs again only when a run from before the invalidation has ended.
  public var isRunOutdated: Bool {
    guard let id = self.run.taskIdentifier, let runtime = self.run.store?.runtime else { return false }
    return runtime.withMachine { machine in
      guard let index = machine.index(ofRun: id) else { return false }
      return !machine.canServeRun(at: index)
    }
  }

  /// The identifier of the task that runs with this context; nil outside a run.
  public var operationRunningTaskIdentifier: OperationTaskIdentifier? {
    get { self.run.taskIdentifier }
    set {
      self.run.taskIdentifier = newValue
      // Another run, which no store has admitted.
      self.run.isAdmitted = false
    }
  }

  /// An object that the state attached to the run; nil in a context made by ``hidingRunAttachment()``.
  public var runAttachment: (any RunAttachment)? {
    get { self.event.hidesAttachment ? nil : self.run.attachment }
    set { self.run.attachment = newValue }
  }

  /// Whether this run fetches one of several parts of a value, even if its attachment is hidden.
  public var mayRunInParts: Bool { self.storage.content.run.attachment?.mayHaveParts ?? false }

  /// A copy of this context without the run's attachment, for code that may pass the context to other runs.
  public func hidingRunAttachment() -> OperationContext {
    var context = self
    context.event.hidesAttachment = true
    return context
  }

  /// Whether the result reported with this context was returned or yielded; nil when no result is reported.
  public var operationResultUpdateReason: OperationResultUpdateReason? {
    get { self.event.updateReason }
    set { self.event.updateReason = newValue }
  }

  /// What is known of the value that is reported with this context. For the states of modules, which keep it.
  public var eventStamp: ValueStamp { self.event.stamp }

  /// The store that runs the operation with this context; nil outside a run or when the store no longer exists.
  ///
  /// The context does not keep the store alive.
  public var runningOperationStore: OpaqueOperationStore? {
    self.run.store?.store
  }

  @usableFromInline var runningStoreObject: (any AnyObject & Sendable)? { self.run.store?.typedStore }

  /// The store that runs the operation with this context; nil when its state has another type.
  @inlinable
  public func runningStore<State: OperationState & Sendable>(of state: State.Type) -> OperationStore<State>? {
    self.runningStoreObject as? OperationStore<State>
  }
}

/// Why an operation reported a result.
@nonexhaustive(warn)
public enum OperationResultUpdateReason: Hashable, Sendable {
  /// The run returned the result, which is its outcome.
  case returnedFinalResult

  /// The run yielded the result and continues.
  case yieldedResult
}

// MARK: - The deadline

extension OperationContext {
  /// The instant by which the run has to end; nil without a deadline.
  ///
  /// Modifiers that wait or try again observe it: a retry does not sleep past it, and begins no attempt after it.
  /// Setting it does not end a run by itself; the modifier `deadline(_:)` of `OperationTimeout` does.
  ///
  /// The instant is one of ``operationDeadlines``: see ``DeadlineSource/instant``.
  public var operationDeadline: ContinuousClock.Instant? {
    get {
      let deadline = self[DeadlineKey.self]
      guard let shared = deadline.shared?.instant else { return deadline.fixed }
      return deadline.fixed.map { min($0, shared) } ?? shared
    }
    set { self[DeadlineKey.self] = Deadline(fixed: newValue) }
  }

  /// The deadline that the callers of the run share; nil if it does not follow its callers.
  public var sharedDeadline: SharedDeadline? { self[DeadlineKey.self].shared }

  /// Lets ``operationDeadline`` follow the callers of the run, in place of the deadline of the first one.
  ///
  /// - Parameter deadline: The deadline of the callers. The deadlines of modifiers stay.
  public mutating func shareDeadline(_ deadline: SharedDeadline) {
    self[DeadlineKey.self] = Deadline(fixed: self.deadlineOfModifiers, shared: deadline)
  }

  /// The deadline that modifiers have set. A deadline that callers share is not part of it.
  var fixedDeadline: ContinuousClock.Instant? {
    get { self[DeadlineKey.self].fixed }
    set { self[DeadlineKey.self].fixed = newValue }
  }

  /// The time until ``operationDeadline``, zero when it has passed; nil without a deadline.
  public var operationTimeRemaining: Duration? {
    self.operationDeadline.map { self.operationDeadlines.timeRemaining(until: $0) }
  }

  private struct Deadline: Sendable {
    var fixed: ContinuousClock.Instant?
    var shared: SharedDeadline?
  }

  private enum DeadlineKey: Key {
    static let defaultValue = Deadline()
  }
}

extension DeadlineSource {
  /// The time until `instant`, at least zero.
  package func timeRemaining(until instant: ContinuousClock.Instant) -> Duration {
    let now = self.instant
    // Compared before the subtraction, which traps where the difference is out of range.
    return instant <= now ? .zero : now.duration(to: instant)
  }
}
