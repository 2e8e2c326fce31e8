#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationWarning {
    /// Makes a reporter for a logger: `OperationWarning.reporter = OperationWarning.logging(to: logger)`.
    ///
    /// The metadata contain the code of the warning, as `operation.warning`. The text of a warning may contain user
    /// data in paths and arguments, so it is logged only if `logsValues` is true. The text of a system failure contains
    /// no user data, and is always logged.
    ///
    /// - Parameters:
    ///   - logger: The logger.
    ///   - level: The level to log at.
    ///   - logsValues: Whether to log the text of a warning, and not only its code.
    /// - Returns: A reporter that logs each warning.
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
