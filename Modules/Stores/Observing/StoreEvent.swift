/// Something that has happened in a store, as a ``StoreObserver`` receives it.
public struct StoreEvent: Sendable {
  /// The kind of the event, with what belongs to it.
  public let what: What

  /// The context of the run, the call or the change; otherwise the context of the store.
  public let context: OperationContext

  /// The run that the event belongs to; nil for an event outside of runs.
  public let run: OperationTaskIdentifier?

  /// The cause of an event outside of runs: the writer of the state, or the reason for an eviction.
  ///
  /// The cause of a run is in the context: ``OperationContext/operationRunCause``.
  public let cause: OperationRunCause?

  /// The runtime of the store, which may be gone when the event is delivered; nil for a run outside of stores.
  let runtime: StoreRuntime?

  /// The path of the store, also when the store is gone.
  public var path: OperationPath { self.runtime?.path ?? [] }

  /// The name of the operation, also when the store is gone.
  public var operationName: String { self.runtime?.operationName ?? "" }

  /// The context of the store, also when the store is gone; for a run outside of stores, the context of the run.
  public var storeContext: OperationContext { self.runtime?.context ?? self.context }

  /// Whether the operation may run without a call, also when the store is gone.
  public var allowsAutomaticRuns: Bool { self.runtime?.allowsAutomaticRuns ?? false }
}

extension StoreEvent {
  /// The kind of an event. Later versions may have more cases, so a `switch` needs a default.
  @nonexhaustive(warn)
  public enum What: Sendable {
    /// The first event that an observer receives of a store: the observer was added.
    case observed
    /// The last event that an observer receives of a store: it was removed, or the store is gone.
    case unobserved
    /// A client has taken the store.
    case addedToClient
    /// The client no longer has the store.
    case removedFromClient(Removal)
    /// A subscriber was added. The number counts the subscribers afterwards.
    case subscriberCame(name: String?, count: Int)
    /// A subscriber has left. The number counts the subscribers afterwards.
    case subscriberLeft(name: String?, count: Int)
    /// The first run or subscriber has come, or the last one has gone.
    case activityChanged(isRunning: Bool, subscriberCount: Int)
    /// A run has begun, and the state shows it.
    case runBegan
    /// One more caller waits for a run that was under way.
    case runJoined
    /// A run has ended, and its result is in the state.
    case runEnded(RunEnd)
    /// An attempt of a run has failed, or has asked for another one. Another attempt follows.
    case attemptFailed(OperationAttempt)
    /// An attempt other than the first has begun.
    case attemptBegan(OperationAttempt)
    /// A run waits: for a condition, a permit, its turn, or another run.
    case waitBegan(StoreWait)
    /// A run no longer waits, because it has what it waited for or has given up.
    case waitEnded(StoreWait, after: Duration, WaitEnd)
    /// A run has yielded a value or an error.
    case yielded(StoreOutcome)
    /// The store shows another state.
    case stateChanged(ShownState)
    /// Something other than a run has changed the state.
    case stateWritten(StateWrite)
    /// The store was invalidated. The cause of the event is the invalidation.
    case invalidated
    /// A modifier has sent a notice.
    case notice(OperationNotice)
  }

  /// How a run has ended.
  public struct RunEnd: Sendable {
    /// The value or the error; nil if the run was cancelled.
    public let outcome: StoreOutcome?

    /// The time from the start of the run; nil if the store had no observer of runs at that time.
    public let duration: Duration?
  }

  /// How a wait of a run has ended.
  @nonexhaustive(warn)
  public enum WaitEnd: Sendable {
    /// The run has what it waited for.
    case satisfied
    /// The run was cancelled, or has given up.
    case cancelled
    /// The time limit of the wait has passed.
    case timedOut
  }

  /// Why a client no longer has a store.
  @nonexhaustive(warn)
  public enum Removal: Sendable {
    /// Code of the program has removed it.
    case cleared
    /// The cache has evicted the idle store, and its last other owner has released it.
    case evicted
    /// Another store was put in its place.
    case replaced
    /// The client is gone.
    case released
  }

  /// A change of the state by something other than a run.
  @nonexhaustive(warn)
  public enum StateWrite: String, Hashable, Sendable, Encodable {
    /// A value was set.
    case valueSet
    /// An error was set.
    case errorSet
    /// A controller has changed the state.
    case edited
    /// A stored state was restored.
    case restored
    /// The state was reset.
    case reset
    /// An optimistic update was put on top of the value.
    case layerAdded
    /// An optimistic update was taken away.
    case layerRemoved
    /// An optimistic update became part of the value.
    case layerCommitted
  }

  /// Kinds of events. An observer receives ``What/observed`` and ``What/unobserved`` in any case.
  public struct Kinds: OptionSet, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    /// A client has taken or dropped the store.
    public static let membership = Self(rawValue: 1)
    /// Subscribers that come and leave.
    public static let subscribers = Self(rawValue: 2)
    /// The first run or subscriber, and the end of the last.
    public static let activity = Self(rawValue: 4)
    /// The beginning and the end of runs, and callers that join them.
    public static let runs = Self(rawValue: 8)
    /// Attempts that have failed, and those that follow.
    public static let attempts = Self(rawValue: 16)
    /// The waits of runs.
    public static let waits = Self(rawValue: 32)
    /// Values and errors that runs yield.
    public static let yields = Self(rawValue: 64)
    /// Each state that the store shows.
    public static let states = Self(rawValue: 128)
    /// Changes of the state by something other than a run, and invalidations.
    public static let writes = Self(rawValue: 256)
    /// Notices of modifiers.
    public static let notices = Self(rawValue: 512)
    /// All kinds.
    public static let all = Self(rawValue: 1023)
  }
}

extension StoreEvent.What {
  /// The kind by which observers choose; nil for the first and the last event of an observer.
  var kind: StoreEvent.Kinds? {
    switch self {
    case .observed, .unobserved: nil
    case .addedToClient, .removedFromClient: .membership
    case .subscriberCame, .subscriberLeft: .subscribers
    case .activityChanged: .activity
    case .runBegan, .runJoined, .runEnded: .runs
    case .attemptFailed, .attemptBegan: .attempts
    case .waitBegan, .waitEnded: .waits
    case .yielded: .yields
    case .stateChanged: .states
    case .stateWritten, .invalidated: .writes
    case .notice: .notices
    }
  }
}

extension StoreEvent.RunEnd {
  init(of task: ErasedTask, with outcome: RunOutcome, isCancelled: Bool) {
    self.outcome = isCancelled ? nil : StoreOutcome(outcome)
    self.duration = (task.context.run.origin?.start?.elapsed).map { task.context.elapsed - $0 }
  }
}

extension StoreEvent.StateWrite: CustomStringConvertible {
  /// The change in words.
  public var description: String {
    switch self {
    case .valueSet: "a value was set"
    case .errorSet: "an error was set"
    case .edited: "the state was changed"
    case .restored: "a stored state was restored"
    case .reset: "the state was reset"
    case .layerAdded: "an optimistic update was added"
    case .layerRemoved: "an optimistic update was removed"
    case .layerCommitted: "an optimistic update became part of the value"
    }
  }
}
