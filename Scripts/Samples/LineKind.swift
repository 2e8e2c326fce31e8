/// What a line at the margin begins.
enum LineKind {
  case moduleImport
  case type
  /// A type alias or a macro, which ends without braces.
  case alias
  /// What can stand in a type as well as in a file.
  case member
  case statement

  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "private", "fileprivate", "final", "static", "mutating", "nonisolated", "indirect",
    "isolated", "override",
  ]

  /// The kind of a line, or `nil` if it has attributes alone: what they belong to begins on a later line.
  init?(_ line: String) {
    var rest = line[...]
    while rest.first == "@" {
      rest = rest.withoutAttribute
      if rest.isEmpty || rest.hasPrefix("//") { return nil }
    }
    var words = rest.split(separator: " ")[...]
    let modifiers = words.prefix { Self.modifiers.contains($0) }
    words = words.dropFirst(modifiers.count)
    switch words.first {
    case "import": self = .moduleImport
    case "struct", "class", "enum", "protocol", "extension", "actor": self = .type
    case "typealias", "macro": self = .alias
    case "func": self = .member
    // No variable of a function is public.
    case "var" where modifiers.contains("public"): self = .member
    case let word?: self = word.hasPrefix("init(") ? .member : .statement
    case nil: self = .statement
    }
  }
}

extension Substring {
  /// What comes after the attribute that the text begins with.
  fileprivate var withoutAttribute: Substring {
    var rest = self.dropFirst().drop { $0.isLetter }
    if rest.first == "<", let end = rest.firstIndex(of: ">") { rest = rest[end...].dropFirst() }
    if rest.first == "(" { rest = rest.withoutParentheses }
    return rest.drop { $0 == " " }
  }

  /// What comes after the parentheses that the text begins with; nothing, if they do not end in it.
  private var withoutParentheses: Substring {
    var depth = 0
    for index in self.indices {
      if self[index] == "(" { depth += 1 }
      if self[index] == ")" { depth -= 1 }
      if depth == 0 { return self[index...].dropFirst() }
    }
    return ""
  }
}
