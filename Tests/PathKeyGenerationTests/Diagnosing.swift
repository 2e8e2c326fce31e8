import OperationPathKeyGeneration
import Testing

/// One message that a file, or several of a target, give.
struct Mistake: Sendable, CustomTestStringConvertible {
  let code: Diagnostic.Code
  let files: [String]
  let messages: [String]

  init(_ code: Diagnostic.Code, _ files: String..., says messages: String...) {
    self.code = code
    self.files = files
    self.messages = messages
  }

  var testDescription: String { "\(self.code): \(self.messages[0])" }
}

/// Files of a target; the first is `A.json`, the next `B.json`.
func sources(_ texts: [String]) -> [SourceFile] {
  zip("ABCDEFGH", texts).map { SourceFile(path: "\($0).json", text: $1) }
}

/// What is wrong in the files.
func diagnostics(_ files: [SourceFile]) -> [Diagnostic] {
  do throws(PathKeyGenerator.Failure) {
    _ = try PathKeyGenerator.generate(from: files, importing: "OperationCore")
    return []
  } catch {
    return error.diagnostics
  }
}

/// What is wrong in a file, as it is printed.
func messages(_ text: String) -> [String] { diagnostics(sources([text])).map(\.description) }
