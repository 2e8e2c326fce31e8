internal import OperationCore
internal import OperationMutation

/// Identifies a call of a journal that a caller or a replay makes.
struct JournalTicket: Sendable {
  let journal: MutationJournal
  let place: JournalState.Place
  let id: String
  let name: String
  let lane: String?
  let isReplay: Bool
  /// The name of the operation; nil for a replay whose mutation is not registered.
  var operationName: String?
  /// Where the optimistic updates of a replay are among other calls' updates; nil if the call had none.
  var layerPlace: StateLayerPlace?
  /// The optimistic updates that are shown between the runs of the call; nil if it has none.
  var updates: KeptUpdates?
  /// What becomes of the call.
  let fate: JournalFate
  /// The arguments in place of the caller's, of a call that was merged with an earlier one, or was in conflict.
  var arguments: (any Sendable)?
  /// The version that the call is based on; nil if its caller has named none.
  var base: String?
  /// How many times its arguments were replaced after a conflict.
  var revision = 0

  /// The key of the call for the server.
  var key: String { JournalRecord.key(self.id, revision: self.revision) }
}

extension JournalTicket {
  /// The end of a replay that has thrown an error.
  func end(after error: any Error, failsForGood: Bool) -> JournalEnd {
    if error.endsCancelledRun { return .left }
    return failsForGood ? .done(failure: error) : .held(error)
  }
}
