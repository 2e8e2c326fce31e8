#if SwiftOperationLogging
  public import Logging
  public import OperationCore

  extension OperationContext {
    /// The logger of operations. The default has the label `swift-operation`, and is created on each access.
    public var operationLogger: Logger {
      get { self[LoggerKey.self] }
      set { self[LoggerKey.self] = newValue }
    }

    /// Whether to log user data: the elements of paths, and the text of errors. The default is false.
    ///
    /// If false, a path is logged as the types of its elements, and an error as its type.
    public var operationLogsValues: Bool {
      get { self[LogsValuesKey.self] }
      set { self[LogsValuesKey.self] = newValue }
    }

    private enum LoggerKey: Key {
      // Not stored: the program may bootstrap its logging after the first access.
      static var defaultValue: Logger { Logger(label: "swift-operation") }
    }

    private enum LogsValuesKey: Key {
      static let defaultValue = false
    }
  }
#endif
