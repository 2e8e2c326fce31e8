internal import OperationCore
internal import OperationMutation

/// A caller that waits for the turn of its call.
struct JournalCaller: Sendable {
  let ticket: JournalTicket
  let context: OperationContext
  let pause = JournalPause()
}

/// What is performed after the state was changed.
struct JournalActions: Sendable {
  var turns: [(JournalState.Continuation, JournalTurn)] = []
  var signals: [AwaitedOutcome<Void>] = []
  /// The writes of calls that are not written any more.
  var writes: [JournalWrite] = []
  /// The calls whose replays begin.
  var replays: [JournalState.Place] = []
  /// First calls of their scopes that nothing makes and nothing holds up. A journal that resumes by itself makes them.
  var resumable: [JournalState.Place] = []
  var cancelled: [Task<Void, Never>] = []
  var ended: [KeptUpdates] = []
  /// The callers that begin to wait for a call that has failed.
  var blocked: [JournalCaller] = []
  /// The callers that may not wait for one any more.
  var unblocked: [JournalCaller] = []
  /// The callers that wait no longer, released after unlocking: their contexts are the user's.
  var callers: [JournalCaller] = []
  /// Failures of calls that are made again, released after unlocking.
  var outcomes: [JournalOutcome] = []
  /// What is released after unlocking.
  var released: [JournalState.Item] = []
  /// Calls that have ended otherwise than by their runs, for those who wait for them.
  var fates: [(JournalFate, JournalError)] = []
  /// Whether the observers of the entries are notified.
  var isChanged = false
  /// Whether stores of mutations are notified.
  var changesStores = false
  /// Whether a right is asked for, or may not be needed any more.
  var needsLease = false
  /// Whether changes are to be written, and nobody writes them yet.
  var beginsWriting = false
  var timer: JournalTimerChange?
}
