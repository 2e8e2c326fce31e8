internal import OperationPathKeyGeneration

/// The messages with which the tool fails, one for each line.
struct ToolFailure: Error {
  /// The maximum number of messages. The rest appears once these are fixed.
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
