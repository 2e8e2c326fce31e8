extension JournalState {
  /// What makes a call, if anything does.
  enum Activity: Sendable {
    /// Neither a caller nor a replay makes the call.
    case none
    /// A caller is about to make it. The end of its wait, if the wait was ended before it began; nil otherwise.
    case claimed(Run, endedEarly: JournalTurn? = nil)
    /// The caller waits for the turn of the call.
    case waiting(Continuation, JournalCaller)
    /// The call has its turn.
    case running(Run)

    var isCallerInLine: Bool {
      switch self {
      case .claimed, .waiting: true
      case .none, .running: false
      }
    }

    var isReplay: Bool { if case .running(let run) = self { run.isReplay } else { false } }
    var isNone: Bool { if case .none = self { true } else { false } }
    var isRunning: Bool { if case .running = self { true } else { false } }

    /// Whether another call can still be made in place of the call, if no body of it has begun.
    var canBeReplaced: Bool {
      switch self {
      case .none, .waiting: true
      case .claimed(let run, _), .running(let run): run.canEndWithoutBody
      }
    }
  }

  /// The run that makes a call.
  struct Run: Sendable {
    /// Whether it is one of the journal, not of a caller.
    let isReplay: Bool
    var canEndWithoutBody: Bool
  }
}
