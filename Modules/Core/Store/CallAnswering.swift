/// Answers calls of a store with the value of the store, in place of the outcome of a run.
///
/// A modifier puts one into the context of each store, in its setup: see ``OperationContext/callAnswerer``. The store
/// asks it about calls that wait for a run. It does not ask about tasks that a caller makes and runs.
public protocol CallAnswering: AnyObject, Sendable {
  /// How long a call waits for its run before the store asks for an answer; nil to ask only after a failure.
  var patience: Duration? { get }

  /// Returns the answer to a call, in place of the outcome of a run; nil if the call gets the outcome.
  ///
  /// Called with no lock held, and not while an invalidation of the store is unanswered.
  ///
  /// - Parameters:
  ///   - occasion: When the store asks.
  ///   - state: The state of the store without layers.
  ///   - context: The context of the call.
  /// - Returns: The answer.
  func answer(
    at occasion: CallOccasion,
    with state: any OperationState & Sendable,
    in context: OperationContext
  ) -> CallAnswer?

  /// Called with no lock held before a call gets an answer.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - context: The context of the call.
  ///   - run: The context of the run that continues behind the answer; nil if none does.
  func willGive(_ answer: CallAnswer, in context: OperationContext, run: OperationContext?)

  /// Called with the lock of the store held when a run has set a value.
  ///
  /// - Parameters:
  ///   - state: The state with the value.
  ///   - context: The context of the result. It has the entries that the run has added to its outcome.
  ///   - isWhole: Whether the result has replaced the whole value.
  func valueWasSet(in state: any OperationState & Sendable, by context: OperationContext, isWhole: Bool)
}

/// The time at which a store asks for an answer to a call.
public enum CallOccasion: Sendable {
  /// Before the call waits for a run. With an answer, a run begins behind it.
  case beforeRun
  /// The run has taken longer than the patience of the call. With an answer, the run goes on.
  case slowRun
  /// The run has failed with this error.
  case failure(any Error)
}

/// The answer to a call, in place of the outcome of a run.
public struct CallAnswer: Sendable {
  /// The outcome, which has the types of the operation.
  package let outcome: RunOutcome
  /// Entries for the context of the event with the answer.
  public let entries: OperationContext
  /// The notice about the answer.
  public let notice: OperationNotice
  /// If a run begins behind the call: the cause of that run.
  public let cause: OperationRunCause

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - value: The value, which has the type that runs of the operation return.
  ///   - entries: Entries for the context of the event with the answer.
  ///   - notice: The notice about the answer.
  ///   - cause: If a run begins behind the call: the cause of that run; nil otherwise.
  public init<Value: Sendable>(
    value: Value,
    entries: OperationContext,
    notice: OperationNotice,
    cause: OperationRunCause = .refreshBehind
  ) {
    self.init(outcome: RunSuccess(value), entries: entries, notice: notice, cause: cause)
  }

  package init(
    outcome: RunOutcome,
    entries: OperationContext,
    notice: OperationNotice,
    cause: OperationRunCause = .refreshBehind
  ) {
    self.outcome = outcome
    self.entries = entries
    self.notice = notice
    self.cause = cause
  }
}

extension OperationContext {
  /// Answers the calls of the store; nil if calls get the outcomes of runs.
  ///
  /// It belongs to one store. Other stores and runners do not take it from a context.
  public var callAnswerer: (any CallAnswering)? {
    get { self[CallAnswererKey.self] }
    set { self[CallAnswererKey.self] = newValue }
  }

  enum CallAnswererKey: Key {
    static let defaultValue: (any CallAnswering)? = nil
    static let belongsToSetup = true
  }
}
