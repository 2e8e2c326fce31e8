#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationWarning {
    /// A reporter that logs: `OperationWarning.reporter = OperationWarning.logging(to: logger)`.
    ///
    /// The text of a warning is for the developer of the program and names what is at fault, paths and arguments included.
    /// The metadata have its kind, as `operation.warning`.
    ///
    /// - Parameters:
    ///   - logger: Where to log.
    ///   - level: The level to log at.
    public static func logging(to logger: Logger, level: Logger.Level = .warning) -> Reporter {
      { warning in
        logger.log(
          level: level,
          "\(warning.message)",
          metadata: ["operation.warning": .string(warning.code.description)]
        )
      }
    }
  }
#endif
