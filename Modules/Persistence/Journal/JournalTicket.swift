internal import OperationCore
internal import OperationMutation

/// Identifies a call of a journal that a caller or a replay makes.
struct JournalTicket: Sendable {
  let journal: MutationJournal
  let position: JournalState.Position
  let id: String
  let name: String
  let scope: String?
  let isReplay: Bool
  /// The name of the operation; nil for a replay of a mutation that is not registered.
  var operationName: String?
  /// The position of a replay's optimistic updates among the updates of other calls; nil if the call had none.
  var layerPlace: StateLayerPlace?
  /// The optimistic updates that are shown between the runs of the call; nil if it has none.
  var updates: KeptUpdates?
  /// The outcome of the call, for other callers.
  let result: JournalResult
  /// The arguments that replace the caller's, after the call was merged or was in conflict; nil for the caller's.
  var arguments: (any Sendable)?
  /// The version that the call is based on; nil if its caller has named none.
  var base: String?
  /// How many times the arguments were replaced after a conflict.
  var revision = 0

  /// The key of the call for the server.
  var key: String { JournalRecord.key(self.id, revision: self.revision) }

  /// Gives the context of an attempt what the server gets of the call.
  func prepare<Arguments: Sendable>(_ context: inout OperationContext, for type: Arguments.Type) {
    context.operationIdempotencyKey = self.key
    context.operationBaseVersion = self.base
    if let arguments = self.arguments as? Arguments { context.setMutationArguments(arguments) }
  }
}

extension JournalTicket {
  /// The end of a replay that has thrown an error.
  func end(after error: any Error, failsForGood: Bool) -> JournalEnd {
    if error.endsCancelledRun { return .left }
    return failsForGood ? .done(failure: error) : .held(error)
  }
}
