#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationEvents

  extension JSONText {
    /// Writes an event, without the values of operations.
    mutating func value(_ event: OperationEvent, store id: Int) {
      self.object { json in
        json.member("number", Int(clamping: event.number))
        json.member("store", id)
        json.key("path")
        json.value(event.path.shownElements)
        json.member("operation", event.operationName)
        json.member("run", event.run.map { "\($0)" })
        if let cause = event.cause {
          json.member("cause", cause.kind.description)
          json.member("causeText", cause.description)
        }
        json.member("date", event.date)
        json.member("kind", event.what.name)
        json.member("text", event.sentence)
        json.details(of: event.what)
      }
    }

    private mutating func details(of what: OperationEvent.What) {
      switch what {
      case .attemptFailed(let failure):
        self.member("attempt", failure.attempt)
        self.member("delay", failure.next.map { $0 / .seconds(1) })
      case .attemptBegan(let attempt): self.member("attempt", attempt)
      case .paused(let reason): self.member("reason", reason)
      case .resumed(let reason, let duration, let outcome):
        self.member("reason", reason)
        self.member("duration", duration / .seconds(1))
        self.member("outcome", outcome)
      case .waits(let subject): self.member("reason", subject)
      case .waited(let subject, let duration):
        self.member("reason", subject)
        self.member("duration", duration / .seconds(1))
      case .runEnded(let end):
        self.member("outcome", end.outcome.rawValue)
        self.member("duration", end.duration.map { $0 / .seconds(1) })
      case .yielded(let failure): self.member("outcome", failure == nil ? "success" : "failure")
      case .invalidated(let cause): self.member("by", cause.invalidatingOperation)
      case .subscriberCame(_, let count), .subscriberLeft(_, let count): self.member("count", count)
      case .notice(let notice):
        self.member("notice", notice.name.description)
        // The node of a fleet that has made the value, and how the value has come.
        if case .string(let node)? = notice.attributes["fleet.node"] { self.member("node", node) }
        if case .string(let source)? = notice.attributes["fleet.source"] { self.member("source", source) }
      default: break
      }
    }
  }
#endif
