#if SwiftOperationLogging
  internal import Logging
  internal import OperationCore

  extension Logger.Metadata {
    /// Adds why a run has begun; without user data unless the values are logged.
    mutating func add(_ cause: OperationRunCause?, logsValues: Bool) {
      guard let cause else { return }
      self["operation.cause"] = .string(logsValues ? cause.description : cause.kind.description)
      if let name = cause.invalidatingOperation { self["operation.invalidated_by"] = .string(name) }
    }
  }
#endif
