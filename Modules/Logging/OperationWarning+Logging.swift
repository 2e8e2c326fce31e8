#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationWarning {
    /// A reporter that logs: `OperationWarning.reporter = OperationWarning.logging(to: logger)`.
    ///
    /// The metadata have the kind of the warning, as `operation.warning`. Its text names what is at fault, with the paths and
    /// arguments that users' values may be part of, so it is logged only where that is asked for. That of a failure of the
    /// system has no such values, and is always logged.
    ///
    /// - Parameters:
    ///   - logger: Where to log.
    ///   - level: The level to log at.
    ///   - logsValues: Whether to log the text of a warning rather than its kind alone.
    public static func logging(
      to logger: Logger,
      level: Logger.Level = .warning,
      logsValues: Bool = false
    ) -> Reporter {
      { warning in
        logger.log(
          level: level,
          logsValues || warning.severity == .failure ? "\(warning.message)" : "operation misused",
          metadata: ["operation.warning": .string(warning.code.description)]
        )
      }
    }
  }
#endif
