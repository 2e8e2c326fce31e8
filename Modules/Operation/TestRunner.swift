/// Whether this process runs tests.
enum TestRunner {
  static let isRunning = CommandLine.arguments.contains { argument in
    argument.hasSuffix(".xctest") || argument.hasSuffix("/xctest") || argument.hasSuffix("swiftpm-testing-helper")
      || argument == "--testing-library"
  }
}
