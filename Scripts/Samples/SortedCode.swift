/// The code of a sample, by the place that it has in a Swift file.
struct SortedCode {
  private(set) var imports = ""
  private(set) var declarations = ""
  /// What stands in an extension of the type that the sample is in.
  private(set) var members = ""
  /// What stands in a function.
  private(set) var statements = ""

  init(_ sample: Sample) throws(Mistake) {
    var isInType = false
    if case .in = sample.directive { isInType = true }
    var rest = sample.lines.map { $0.replacing("{ … }", with: "{ fatalError(\"left out\") }") }[...]
    var followsStatement = false
    while !rest.isEmpty {
      guard let piece = Piece(startOf: rest) else {
        throw Mistake(line: sample.firstLine + rest.startIndex, text: "a declaration without an end")
      }
      let location = sample.location(of: rest.startIndex)
      let text = piece.lines.map { $0 + "\n" }.joined()
      switch piece.kind {
      case .moduleImport: self.imports += text
      case .statement: self.statements += (followsStatement ? "" : location) + text
      case .member where isInType: self.members += location + text + "#sourceLocation()\n"
      case .member, .type, .alias: self.declarations += location + text + "#sourceLocation()\n"
      }
      followsStatement = piece.kind == .statement
      rest = rest[piece.lines.endIndex...]
    }
  }
}
