/// A byte of a file.
struct Place: Sendable {
  let file: SourceFile
  let offset: Int

  var line: Int { self.file.position(of: self.offset).line }

  /// Path, line and column, as compilers write them.
  var inWords: String {
    let (line, column) = self.file.position(of: self.offset)
    return "\(self.file.path):\(line):\(column)"
  }
}
