#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationRequest {
    /// Logs how long each run takes, and how it ends, to ``OperationCore/OperationContext/operationLogger``.
    ///
    /// Applied inside a retry it logs each attempt, outside of it each run as a whole. The metadata are
    /// `operation.name`, `operation.path`, `operation.task`, `operation.attempt`, `operation.outcome`,
    /// `operation.duration` in seconds and, after a failure, `operation.error`. Values of users are not among them unless
    /// ``OperationCore/OperationContext/operationLogsValues`` is on.
    ///
    /// - Parameters:
    ///   - name: The name in the log; nil for that of the operation: see `OperationRequest.operationName`.
    ///   - level: The level to log at.
    public func logDuration(
      _ name: String? = nil,
      level: Logger.Level = .info
    ) -> ModifiedOperation<Self, LogDuration<Self>> {
      self.modifier(LogDuration(name: name, level: level))
    }

    /// Logs how long each run takes, and how it ends, at a level: see ``logDuration(_:level:)``.
    ///
    /// - Parameters:
    ///   - name: The name in the log; nil for that of the operation: see `OperationRequest.operationName`.
    ///   - level: The level to log at.
    public func logDuration(
      _ name: String? = nil,
      at level: Logger.Level
    ) -> ModifiedOperation<Self, LogDuration<Self>> {
      self.logDuration(name, level: level)
    }

    /// Logs how long each run takes, and how it ends, at a level: see ``logDuration(_:level:)``.
    public func logDuration(_ level: Logger.Level) -> ModifiedOperation<Self, LogDuration<Self>> {
      self.logDuration(nil, level: level)
    }
  }

  /// Logs how long the runs of an operation take: what `.logDuration(_:level:)` applies.
  public struct LogDuration<Operation: OperationRequest>: OperationModifier {
    let name: String?
    let level: Logger.Level

    public func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      using operation: Operation,
      with continuation: OperationContinuation<Operation.Value, Operation.Failure>
    ) async throws(Operation.Failure) -> Operation.Value {
      let logger = context.operationLogger
      guard logger.logLevel <= self.level else {
        return try await operation.run(isolation: isolation, in: context, with: continuation)
      }
      let entry = RunEntry(beginning: context)
      var context = context
      context.onNextAttempt { next, _ in entry.note(next) }
      do throws(Operation.Failure) {
        let value = try await operation.run(isolation: isolation, in: context, with: continuation)
        logger.log(level: self.level, "operation succeeded", metadata: self.metadata(of: entry, operation, nil))
        return value
      } catch {
        let message: Logger.Message = error.endsCancelledRun ? "operation cancelled" : "operation failed"
        logger.log(level: self.level, message, metadata: self.metadata(of: entry, operation, error))
        throw error
      }
    }

    private func metadata(of entry: RunEntry, _ operation: Operation, _ error: (any Error)?) -> Logger.Metadata {
      var metadata = entry.metadata(error: error)
      metadata["operation.name"] = .string(self.name ?? operation.operationName)
      // An operation may be found by a path, or be one that is only run.
      if let path = (operation as? any OperationPathable)?.path {
        metadata["operation.path"] = entry.metadata(of: path)
      }
      return metadata
    }
  }
#endif
