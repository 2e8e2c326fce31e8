/// An import, a declaration or a line of statements, with the attributes before it.
struct Piece {
  let kind: LineKind
  let lines: ArraySlice<String>

  /// The first piece of some lines, or `nil` if these end before it does.
  init?(startOf lines: ArraySlice<String>) {
    var rest = lines
    while let line = rest.first {
      // Attributes may be followed by their arguments and by comments.
      let belongsToAttribute = rest.startIndex > lines.startIndex && (line.hasPrefix(" ") || line.hasPrefix("/"))
      if !belongsToAttribute, let kind = LineKind(line) {
        guard let last = Self.lastLine(of: kind, in: rest) else { return nil }
        self.kind = kind
        self.lines = lines[...last]
        return
      }
      rest.removeFirst()
    }
    return nil
  }

  /// The index of the last line of what some lines begin with.
  private static func lastLine(of kind: LineKind, in lines: ArraySlice<String>) -> Int? {
    guard kind != .moduleImport, kind != .statement else { return lines.startIndex }
    var depth = 0
    var hasBody = kind == .alias
    for index in lines.indices {
      let code = lines[index].withoutStringsAndComments
      depth += code.count { "{(".contains($0) } - code.count { "})".contains($0) }
      hasBody = hasBody || code.contains("{")
      if depth == 0, hasBody { return index }
    }
    return nil
  }
}

extension String {
  /// The line without what may hold brackets that are no code.
  fileprivate var withoutStringsAndComments: Substring {
    let code = self.replacing("\\\"", with: "").replacing(/"[^"]*"/, with: "")
    guard let comment = code.firstRange(of: "//") else { return code[...] }
    return code[..<comment.lowerBound]
  }
}
