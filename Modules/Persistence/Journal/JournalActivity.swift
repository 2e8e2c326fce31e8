extension JournalState {
  /// What makes a call, if anything does.
  enum Activity: Sendable {
    /// Neither a caller nor a replay makes the call.
    case none
    /// A caller is about to make it.
    case claimed
    /// The caller waits for the turn of the call.
    case waiting(Continuation, JournalCaller)
    /// The call has its turn.
    case running(isReplay: Bool)

    var isCallerInLine: Bool {
      switch self {
      case .claimed, .waiting: true
      case .none, .running: false
      }
    }

    var isReplay: Bool { if case .running(isReplay: true) = self { true } else { false } }
    var isNone: Bool { if case .none = self { true } else { false } }
    var isRunning: Bool { if case .running = self { true } else { false } }
  }
}
