public import OperationCore
public import OperationFoundation

/// Something that has happened in a store of a client: see ``OperationCore/OperationClient/events``.
///
/// ```swift
/// for await event in client.events { print(event) }
/// // GetPost at ["posts", 1]: run #7 began, started by a new subscriber
/// // GetPost at ["posts", 1]: run #7 succeeded after 120 ms
/// ```
///
/// It contains no value of an operation. The text of an error appears, unless the error is an
/// ``/OperationCore/OperationSecret``.
public struct OperationEvent: Sendable {
  /// The number of the event. A client counts events from the first one that could be read.
  ///
  /// A reader that was too slow finds a gap in the numbers.
  public internal(set) var number: UInt64

  /// The path of the operation, which may contain user data.
  public let path: OperationPath

  /// The ``/OperationCore/OperationRequest/operationName`` of the operation.
  public let operationName: String

  /// The run that the event belongs to; nil for an event outside runs.
  public let run: OperationTaskIdentifier?

  /// The cause of the event: the cause of its run, the writer of the state, or the reason for an eviction.
  ///
  /// Nil for a subscriber that comes or leaves, and for a new store.
  public let cause: OperationRunCause?

  /// The date of the event by the clock of the store.
  public let date: Date

  /// The elapsed time of the store's deadlines at the event: two of them give a duration, whatever the clock does.
  public let elapsed: Duration

  /// The kind of the event.
  public let what: What
}

extension OperationEvent {
  /// The kind of an event. Later versions may have more cases, so a `switch` needs a default.
  @nonexhaustive(warn)
  public enum What: Sendable {
    /// A run has begun.
    case runBegan
    /// A caller waits for a run that was under way.
    case runJoined
    /// An attempt of a run has failed, or has asked for another one. Another attempt follows.
    case attemptFailed(AttemptFailure)
    /// An attempt with this number, from 2, has begun.
    case attemptBegan(Int)
    /// A run waits until a condition holds, which the text describes.
    case paused(for: String)
    /// A run no longer waits for a condition. The outcome is `satisfied`, `cancelled` or `timedOut`.
    case resumed(from: String, after: Duration, outcome: String)
    /// A run waits for something other than a condition, which the text names, such as a permit of a limit.
    case waits(for: String)
    /// A run no longer waits for the named thing, because it has it or has given up.
    case waited(for: String, duration: Duration)
    /// A run has yielded a value, or an error with this text.
    case yielded(failure: String?)
    /// A run has ended.
    case runEnded(RunEnd)
    /// Something other than a run has changed the state.
    case stateWritten(StateWrite)
    /// The store was invalidated. A run that refreshes it has this cause.
    case invalidated(OperationRunCause)
    /// The value has become stale by a rule. The text is the finding of the rule.
    ///
    /// A rule about age, or about a condition that announces its changes, is reported at the time when the value
    /// becomes stale. A rule `.staleWhen { … }` is asked only when the value has changed.
    case becameStale(because: String)
    /// A subscriber was added. The number counts the subscribers afterwards.
    case subscriberCame(name: String?, count: Int)
    /// A subscriber has left. The number counts the subscribers afterwards.
    case subscriberLeft(name: String?, count: Int)
    /// The client has a new store.
    case storeAdded
    /// The client no longer has the store.
    case storeRemoved(Removal)
    /// A modifier has sent a notice.
    case notice(OperationNotice)
  }

  /// A failed attempt of a run that makes another one.
  public struct AttemptFailure: Hashable, Sendable, Encodable {
    /// The number of the attempt, from 1.
    public let attempt: Int
    /// The text of the error; nil if the attempt asks for another one without having failed.
    public let failure: String?
    /// The type of the error, with its module.
    public let failureType: String?
    /// The time until the next attempt; nil if it is unknown.
    public let next: Duration?
    /// Why the next attempt is at that time, to follow "because"; nil if only the backoff determines it.
    public let reason: String?
  }

  /// How a run has ended.
  public struct RunEnd: Hashable, Sendable, Encodable {
    /// The outcome of a run.
    @nonexhaustive(warn)
    public enum Outcome: String, Hashable, Sendable, Encodable {
      /// The run has returned a value.
      case success
      /// The run has failed.
      case failure
      /// The run was cancelled.
      case cancellation
    }

    /// The outcome.
    public let outcome: Outcome
    /// The text of the error; nil for the other outcomes.
    public let failure: String?
    /// The type of the error, with its module; nil for the other outcomes.
    public let failureType: String?
    /// The time from the start of the run; nil if the runs of the store were not observed then.
    public let duration: Duration?
  }

  /// A change of a state by something other than a run.
  public typealias StateWrite = StoreEvent.StateWrite

  /// Why a client no longer has a store.
  @nonexhaustive(warn)
  public enum Removal: String, Hashable, Sendable, Encodable {
    /// Code of the program has removed it.
    case cleared
    /// The store was idle, and the cache has evicted it. The cause of the event is the reason, such as the cache time.
    case evicted
  }
}
