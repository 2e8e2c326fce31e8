internal import OperationCore

/// Whether the state of a caller shows that its call waits behind a failed call.
///
/// One thread at a time reports it, so that the last report is true.
final class JournalPause: Sendable {
  private struct State: Sendable {
    var isReporting = false
    var hasChanged = false
    var isPaused = false
  }

  private let state = Locked(State())

  /// Reports the result of `reason` to the run with a context, if it has changed.
  ///
  /// - Parameters:
  ///   - context: The context of the run.
  ///   - reason: Returns the text of what the call waits for; nil if it does not wait behind a failed call.
  func update(in context: OperationContext, _ reason: () -> String?) {
    let begins = self.state.withLock { state in
      state.hasChanged = true
      defer { state.isReporting = true }
      return !state.isReporting
    }
    guard begins else { return }
    while self.state.withLock({ state in
      defer { state.hasChanged = false }
      state.isReporting = state.hasChanged
      return state.hasChanged
    }) {
      let reason = reason()
      let isNew = self.state.withLock { state in
        defer { state.isPaused = reason != nil }
        return state.isPaused != (reason != nil)
      }
      guard isNew else { continue }
      if let reason {
        context.report(.paused(RunPause(reason: reason, start: context.elapsed)))
      } else {
        context.report(.resumed)
      }
    }
  }
}

extension MutationJournal {
  /// Reports to callers whether they wait behind a failed call.
  func updatePauses(of callers: [JournalCaller]) {
    for caller in callers {
      caller.pause.update(in: caller.context) { self.state.withLock { $0.pauseReason(of: caller.ticket.position) } }
    }
  }
}

extension JournalState {
  /// The reason for which a caller waits, as a clause; nil unless its scope is blocked.
  fileprivate func pauseReason(of position: Position) -> String? {
    guard let item = self.items[position], case .waiting = item.activity, let scope = item.scope,
      let calls = self.scopes[scope], calls.isBlocked, let first = calls.first, first != position
    else { return nil }
    let (record, id) = (self.items[first]?.record, self.items[first]?.id ?? "")
    let name = record?.name ?? ""
    if let record, record.isHolding {
      let call = "the call of \"\(name)\" before it in its scope"
      let remedy = "until `retry(_:)` or `remove(_:)` of its entry \(id) ends that"
      switch record.status {
      case .conflicted: return "the conflict of \(call) has ended"
      case .expired: return "\(call), whose time has passed after it was sent, is out of the way: \(remedy)"
      case nil: return "\(call), which is a dead letter, is out of the way: \(remedy)"
      }
    }
    if !self.names.contains(name) {
      return "a mutation is registered as \"\(name)\" for the call \(id) before it in its scope, or that is removed"
    }
    return "the call of \"\(name)\" before it in its scope, which has failed, was made again"
  }
}
