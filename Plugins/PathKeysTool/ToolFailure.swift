internal import OperationPathKeyGeneration

/// Why the tool ends without having done its work, one message a line.
struct ToolFailure: Error {
  /// A wall of messages helps nobody: the rest shows when these are dealt with.
  static let limit = 100

  let messages: [String]

  init(_ message: String) {
    self.messages = ["error: \(message)"]
  }

  init(_ diagnostics: [Diagnostic]) {
    let shown = diagnostics.prefix(Self.limit).map(\.description)
    let rest = diagnostics.count - shown.count
    self.messages = shown + (rest > 0 ? ["note: \(rest) more are not shown"] : [])
  }
}
