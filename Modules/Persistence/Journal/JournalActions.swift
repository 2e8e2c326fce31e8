internal import OperationCore
internal import OperationMutation

/// A caller that waits for the turn of its call.
struct JournalCaller: Sendable {
  let ticket: JournalTicket
  let context: OperationContext
  let run: JournalState.Run
  let pause = JournalPause()
}

/// The actions to perform after the state was changed.
struct JournalActions: Sendable {
  /// A replay that begins. Its call may be removed before it has begun.
  struct Replay: Sendable {
    let position: JournalState.Position
    let result: JournalResult
    let name: String
  }

  var turns: [(JournalState.Continuation, JournalTurn)] = []
  var signals: [AwaitedOutcome<Void>] = []
  /// The writes of calls that are no longer written.
  var writes: [JournalWrite] = []
  /// The writes of calls that are not removed, because they have become part of later ones.
  var refusedRemovals: [JournalWrite] = []
  var replays: [Replay] = []
  /// The first calls of scopes, if nothing makes them or holds them up. A journal that resumes by itself makes them.
  var resumable: [JournalState.Position] = []
  /// The calls that were read, with a time until which they can be made.
  var expiring: [JournalState.Position] = []
  /// The schedules whose last calls have ended or were set aside.
  var schedules: [String] = []
  var cancelled: [Task<Void, Never>] = []
  var ended: [KeptUpdates] = []
  /// The updates of runs whose calls were removed.
  var endedInRuns: [CallUpdates] = []
  /// The callers that begin to wait for a call that has failed.
  var blocked: [JournalCaller] = []
  /// The callers that no longer wait for a failed call.
  var unblocked: [JournalCaller] = []
  /// The callers that no longer wait. They are released after unlocking, because their contexts are the user's.
  var callers: [JournalCaller] = []
  /// The failures of calls that are made again. They are released after unlocking.
  var outcomes: [JournalOutcome] = []
  /// Other objects to release after unlocking.
  var released: [JournalState.Item] = []
  /// The calls that have ended without a run, for the tasks that wait for them.
  var results: [(JournalResult, JournalError)] = []
  /// The calls that are not made before the program ends, for the tasks that wait for them.
  var stoppedResults: [(JournalResult, JournalError)] = []
  /// Whether the observers of the entries are notified.
  var isChanged = false
  /// Whether stores of mutations are notified.
  var changesStores = false
  /// Whether a lease is to be taken.
  var needsLease = false
  /// Whether a lease may no longer be needed.
  var mayRelease = false
  /// The leases among them that no call needs any more.
  var idleLeaseKeys: [JournalLeaseKey] = []
  /// Whether there are changes to write and no task that writes them.
  var beginsWriting = false
  var timer: JournalTimerChange?
}
