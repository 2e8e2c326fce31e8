#if SwiftOperationLogging
  internal import Logging
  internal import OperationCore
  internal import OperationEvents

  /// The log entry for an event of a run.
  struct RunLogEntry {
    private(set) var message: String
    private(set) var metadata: Logger.Metadata

    /// Makes an entry; nil for an event that is not about a run.
    init?(_ event: OperationEvent, logsValues: Bool) {
      guard let run = event.run else { return nil }
      self.message = ""
      self.metadata = ["operation.name": .string(event.operationName), "operation.task": "\(run)"]
      var context = OperationContext()
      context.operationLogsValues = logsValues
      self.metadata["operation.path"] = context.metadata(of: event.path)
      self.metadata.add(event.cause, logsValues: logsValues)
      switch event.what {
      case .runBegan: self.message = "run began"
      case .waits(let subject):
        self.message = "run waits"
        self.metadata["operation.waits_for"] = .string(Self.shown(subject, logsValues))
      case .waited(let subject, let duration):
        self.message = "run waited"
        self.metadata["operation.waits_for"] = .string(Self.shown(subject, logsValues))
        self.metadata["operation.waited"] = "\(duration / .seconds(1))"
      case .paused(let reason):
        self.message = "run paused"
        self.metadata["operation.waits_for"] = .string(Self.shown(reason, logsValues))
      case .resumed(_, let duration, let outcome):
        self.message = "run resumed"
        self.metadata["operation.waited"] = "\(duration / .seconds(1))"
        self.metadata["operation.outcome"] = .string(outcome)
      case .attemptFailed(let failure): self.add(failure, logsValues)
      case .attemptBegan(let attempt):
        self.message = "attempt began"
        self.metadata["operation.attempt"] = "\(attempt)"
      case .runEnded(let end): self.add(end, logsValues)
      default: return nil
      }
    }

    /// What a run waits for: without values, the elements of a path are left out.
    private static func shown(_ subject: String, _ logsValues: Bool) -> String {
      guard !logsValues, let start = subject.firstIndex(of: "[") else { return subject }
      return subject[..<start] + "[…]"
    }

    private mutating func add(_ failure: OperationEvent.AttemptFailure, _ logsValues: Bool) {
      self.message = "attempt failed"
      self.metadata["operation.attempt"] = "\(failure.attempt)"
      if let next = failure.next { self.metadata["operation.next"] = "\(next / .seconds(1))" }
      if let reason = failure.reason { self.metadata["operation.reason"] = .string(reason) }
      let error = logsValues ? failure.failure : failure.failureType
      if let error { self.metadata["operation.error"] = .string(error) }
    }

    private mutating func add(_ end: OperationEvent.RunEnd, _ logsValues: Bool) {
      switch end.outcome {
      case .success: self.message = "run succeeded"
      case .failure: self.message = "run failed"
      case .cancellation: self.message = "run cancelled"
      }
      self.metadata["operation.outcome"] = .string(end.outcome.rawValue)
      if let duration = end.duration { self.metadata["operation.duration"] = "\(duration / .seconds(1))" }
      let error = logsValues ? end.failure : end.failureType
      if let error { self.metadata["operation.error"] = .string(error) }
    }
  }
#endif
