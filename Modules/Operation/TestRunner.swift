internal import OperationCore

/// Whether this process runs tests.
enum TestRunner {
  private static let arguments = ProcessArguments.all
  private static let isReported = Switch(false)

  static var isRunning: Bool {
    if self.arguments == nil, !self.isReported.set(true) { Self.cannotKnow.report() }
    return self.arguments.map { self.isTestRunner($0) } ?? false
  }

  static func isTestRunner(_ arguments: [String]) -> Bool {
    arguments.contains { argument in
      argument.hasSuffix(".xctest") || argument.hasSuffix("/xctest") || argument.hasSuffix("swiftpm-testing-helper")
        || argument == "--testing-library"
    }
  }

  private static let cannotKnow = OperationWarning(
    code: OperationWarning.Code(description: "noProcessFiles"),
    severity: .failure,
    message: """
      The process cannot read /proc, so it counts as one that runs no tests, and observers see less. Mount it: the runtime of \
      Swift itself relies on it, and may end the process when many tasks run.
      """
  )
}
