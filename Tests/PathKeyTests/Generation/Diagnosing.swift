import OperationPathKeyGeneration
import Testing

/// Files of a target, with the messages that they cause.
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

/// The files of a target: `A.json`, `B.json` and so on.
func sources(_ texts: [String]) -> [SourceFile] {
  zip("ABCDEFGH", texts).map { SourceFile(path: "\($0).json", text: $1) }
}

/// The mistakes in the files.
func diagnostics(_ files: [SourceFile]) -> [Diagnostic] {
  do throws(PathKeyGenerator.Failure) {
    _ = try PathKeyGenerator.generate(from: files, importing: "OperationCore")
    return []
  } catch {
    return error.diagnostics
  }
}

/// The mistakes in a file, as they are printed.
func messages(_ text: String) -> [String] { diagnostics(sources([text])).map(\.description) }
