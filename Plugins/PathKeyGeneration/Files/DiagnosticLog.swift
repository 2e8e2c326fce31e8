/// Collects diagnostics up to a limit, so that an invalid file does not fill the memory.
struct DiagnosticLog {
  static let limit = 1_000

  private(set) var diagnostics: [Diagnostic] = []

  mutating func report(_ code: Diagnostic.Code, at place: Place, _ message: String, remedy: String) {
    guard self.diagnostics.count < Self.limit else { return }
    self.diagnostics.append(Diagnostic(code, at: place, message, remedy: remedy))
  }

  mutating func append(contentsOf diagnostics: [Diagnostic]) {
    self.diagnostics.append(contentsOf: diagnostics.prefix(Self.limit - self.diagnostics.count))
  }
}

extension DiagnosticLog {
  /// The diagnostics in the order of the text, for files in the given order.
  func sorted(by files: [SourceFile]) -> [Diagnostic] {
    let order = Dictionary(files.enumerated().map { ($1.path, $0) }) { first, _ in first }
    func rank(_ diagnostic: Diagnostic) -> (Int, Int, Int) {
      (order[diagnostic.path] ?? files.count, diagnostic.line, diagnostic.column)
    }
    return self.diagnostics.enumerated()
      .sorted { rank($0.element) == rank($1.element) ? $0.offset < $1.offset : rank($0.element) < rank($1.element) }
      .map(\.element)
  }
}
