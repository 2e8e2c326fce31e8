#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationContext {
    /// Where operations log. By default it is a logger with the label `swift-operation`, made when it is asked for.
    public var operationLogger: Logger {
      get { self[LoggerKey.self] }
      set { self[LoggerKey.self] = newValue }
    }

    /// Whether values of users may be logged: the elements of paths, and the text of errors. False by default.
    ///
    /// Without it, a path is logged as the types of its elements, and an error as its type.
    public var operationLogsValues: Bool {
      get { self[LogsValuesKey.self] }
      set { self[LogsValuesKey.self] = newValue }
    }

    private enum LoggerKey: Key {
      // Not kept: a program may bootstrap its logging after somebody has asked for the first time.
      static var defaultValue: Logger { Logger(label: "swift-operation") }
    }

    private enum LogsValuesKey: Key {
      static let defaultValue = false
    }
  }
#endif
