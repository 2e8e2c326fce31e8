#if SwiftOperationLogging
  import InMemoryLogging
  import Logging
  import OperationCore
  import OperationLogging
  import TestFixtures
  import Testing

  @Suite(.bounded) struct WarningLoggingTests {
    @Test(arguments: [Logger.Level.warning, .error])
    func `A warning has an entry with its code`(level: Logger.Level) {
      let handler = InMemoryLogHandler()
      let logger = Logger(label: "test") { _ in handler }
      OperationWarning.withReporter(OperationWarning.logging(to: logger, level: level, logsValues: true)) {
        OperationWarning(code: .invalidArgument, message: "Pass 0.").report()
      }
      let entry = InMemoryLogHandler.Entry(
        level: level,
        message: "Pass 0.",
        metadata: ["operation.warning": "invalidArgument"]
      )
      expect(handler.entries, equals: [entry])
    }

    @Test func `Messages that may contain user data are not logged by default`() {
      let handler = InMemoryLogHandler()
      let logger = Logger(label: "test") { _ in handler }
      OperationWarning.withReporter(OperationWarning.logging(to: logger)) {
        OperationWarning(code: .pathInUse, message: "The path [\"users\", \"a secret\"] is taken.").report()
      }
      expect(handler.entries.map(\.message), equals: ["operation misused"])
      expect(handler.entries.first?.metadata["operation.warning"], equals: "pathInUse")
      #expect(!"\(handler.entries)".contains("secret"))
    }

    @Test func `A context has the logger of the program until one is set`() {
      var context = OperationContext()
      expect(context.operationLogger.label, equals: "swift-operation")
      #expect(!context.operationLogsValues)
      context.operationLogger = Logger(label: "posts") { _ in InMemoryLogHandler() }
      expect(context.operationLogger.label, equals: "posts")
    }
  }
#endif
