/// A byte in a file.
struct Place: Sendable, CustomStringConvertible {
  let file: SourceFile
  let offset: Int

  var line: Int { self.file.position(of: self.offset).line }

  /// The path, line and column in the format of compiler messages.
  var description: String {
    let (line, column) = self.file.position(of: self.offset)
    return "\(self.file.path):\(line):\(column)"
  }
}
