internal import OperationCore

/// Whether this process runs tests.
enum TestRunner {
  private static let arguments = ProcessArguments.all
  private static let isReported = AtomicFlag(false)

  static var isRunning: Bool {
    if self.arguments == nil, !self.isReported.set(true) { Self.warning.report() }
    return self.arguments.map { self.isTestRunner($0) } ?? false
  }

  static func isTestRunner(_ arguments: [String]) -> Bool {
    arguments.contains { argument in
      argument.hasSuffix(".xctest") || argument.hasSuffix("/xctest") || argument.hasSuffix("swiftpm-testing-helper")
        || argument == "--testing-library"
    }
  }

  private static let warning = OperationWarning(
    code: OperationWarning.Code(description: "noProcessFiles"),
    severity: .failure,
    message: """
      The process cannot read /proc. It is treated as one that runs no tests, and observers report less. Mount /proc: the \
      runtime of Swift needs it, too, and may end the process when many tasks run.
      """
  )
}
