#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationRequest {
    /// Logs the duration and the outcome of each run to ``OperationCore/OperationContext/operationLogger``.
    ///
    /// Applied before a retry it logs each attempt, applied after it each run as a whole. The metadata are
    /// `operation.name`, `operation.path`, `operation.task`, `operation.attempt`, `operation.outcome`,
    /// `operation.duration` in seconds, `operation.cause`, `operation.waited` in seconds if the run was paused, and, after a
    /// failure or cancellation, `operation.error`. They contain user data only if
    /// ``OperationCore/OperationContext/operationLogsValues`` is true.
    ///
    /// - Parameters:
    ///   - name: The name in the log; nil for `OperationRequest.operationName`.
    ///   - level: The level to log at.
    /// - Returns: The operation, which logs each of its runs.
    public func logDuration(
      _ name: String? = nil,
      level: Logger.Level = .info
    ) -> ModifiedOperation<Self, LogDuration<Self>> {
      self.modifier(LogDuration(name: name, level: level))
    }

    /// Logs the duration and the outcome of each run: see ``logDuration(_:level:)``.
    ///
    /// - Parameters:
    ///   - name: The name in the log; nil for `OperationRequest.operationName`.
    ///   - level: The level to log at.
    /// - Returns: The operation, which logs each of its runs.
    public func logDuration(
      _ name: String? = nil,
      at level: Logger.Level
    ) -> ModifiedOperation<Self, LogDuration<Self>> {
      self.logDuration(name, level: level)
    }

    /// Logs the duration and the outcome of each run: see ``logDuration(_:level:)``.
    public func logDuration(_ level: Logger.Level) -> ModifiedOperation<Self, LogDuration<Self>> {
      self.logDuration(nil, level: level)
    }
  }

  /// Logs the duration of the runs of an operation; applied by `.logDuration(_:level:)`.
  public struct LogDuration<Operation: OperationRequest>: OperationModifier {
    let name: String?
    let level: Logger.Level

    public static var beginsAtOnce: Bool { true }

    public var sourceText: String { ".logDuration()" }

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
      context.operationNoticeObservers.append(entry)
      do throws(Operation.Failure) {
        let value = try await operation.run(isolation: isolation, in: context, with: continuation)
        logger.log(
          level: self.level,
          "operation succeeded",
          metadata: self.metadata(of: entry, operation, context, nil)
        )
        return value
      } catch {
        let message: Logger.Message = error.endsCancelledRun ? "operation cancelled" : "operation failed"
        logger.log(level: self.level, message, metadata: self.metadata(of: entry, operation, context, error))
        throw error
      }
    }

    private func metadata(
      of entry: RunEntry,
      _ operation: Operation,
      _ context: OperationContext,
      _ error: (any Error)?
    ) -> Logger.Metadata {
      var metadata = entry.metadata(error: error)
      metadata["operation.name"] = .string(self.name ?? operation.operationName)
      // Only some operations have a path.
      if let path = (operation as? any OperationPathable)?.path {
        metadata["operation.path"] = context.metadata(of: path)
      }
      return metadata
    }
  }
#endif
