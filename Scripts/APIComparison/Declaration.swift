/// A public declaration as clients of a library see it.
struct Declaration {
  let path: String
  /// The path of the type or protocol that it is a member of; empty at the top.
  let owner: String
  let kind: String
  /// The declaration without the names that a parameter has inside, and without the values of default arguments.
  let text: String
  /// Whether a type that conforms to the protocol has to have it.
  let isRequired: Bool

  var isProtocol: Bool { self.kind == "swift.protocol" }

  init(path: String, owner: String, kind: String, text: String, isRequired: Bool) {
    (self.path, self.owner, self.kind, self.text, self.isRequired) = (path, owner, kind, text, isRequired)
  }

  init(_ symbol: SymbolGraph.Symbol, isRequired: Bool) {
    self.path = symbol.pathComponents.joined(separator: ".")
    self.owner = symbol.pathComponents.dropLast().joined(separator: ".")
    self.kind = symbol.kind.identifier
    self.isRequired = isRequired
    var text = (symbol.declarationFragments ?? []).withoutInternalNames
    text = text.withDefaultsShortened.withAccessorsWritten(kind: symbol.kind.identifier)
    self.text = (symbol.accessLevel == "open" ? "open " : "") + text + (symbol.swiftExtension?.constraints).clause
  }

  /// Whether each use of the old declaration compiles with this one, as far as that is simple to say.
  ///
  /// A declaration may get default arguments, a setter and `@discardableResult`, and a class may become open.
  func replaces(_ old: Declaration) -> Bool {
    func base(_ text: String) -> String {
      text.replacing(" = …", with: "").replacing("@discardableResult ", with: "").replacing("open ", with: "")
        .replacing(" { get set }", with: " { get }")
    }
    func keeps(_ part: String) -> Bool { !old.text.contains(part) || self.text.contains(part) }
    let gainsSetter = self.text.contains("{ get set }") && !old.text.contains("{ get set }")
    return base(self.text) == base(old.text)
      && keeps("@discardableResult ") && keeps("open ") && keeps("{ get set }")
      && !(self.isRequired && gainsSetter)
      && zip(old.text.parameters, self.text.parameters).allSatisfy { !$0.contains(" = …") || $1.contains(" = …") }
  }
}

extension [SymbolGraph.Fragment] {
  fileprivate var withoutInternalNames: String {
    var text = ""
    for fragment in self {
      if fragment.kind != "internalParam" {
        text += fragment.spelling
      } else if text.hasSuffix("(") || text.hasSuffix(", ") {
        // A parameter of a subscript or of an operator, which has no name for callers.
        text += "_"
      } else if text.last == " " {
        text.removeLast()
      }
    }
    return text
  }
}

extension String {
  /// The text with an ellipsis in place of each default argument: its value may change, and its presence may not.
  fileprivate var withDefaultsShortened: String {
    var (result, rest, depth) = ("", Substring(self), 0)
    while let character = rest.first {
      if depth > 0, rest.hasPrefix(" = ") {
        result += " = …"
        rest = rest.dropFirst(3).droppingArgument
        continue
      }
      if "([".contains(character) { depth += 1 }
      if ")]".contains(character) { depth -= 1 }
      result.append(character)
      rest.removeFirst()
    }
    return result
  }

  /// The text with the accessors of a variable, which are left out where it is stored.
  fileprivate func withAccessorsWritten(kind: String) -> String {
    guard kind.contains("property"), !self.contains("{ get") else { return self }
    let isConstant = self.hasPrefix("let ") || self.contains(" let ")
    let text = self.replacing("static let ", with: "static var ")
    return (text.hasPrefix("let ") ? "var " + text.dropFirst(4) : text) + (isConstant ? " { get }" : " { get set }")
  }

  /// The parts between the commas.
  fileprivate var parameters: [Substring] { self.split(separator: ",", omittingEmptySubsequences: false) }
}

extension Substring {
  /// What comes after the expression that the text begins with: a comma or a bracket that the expression has not
  /// opened.
  fileprivate var droppingArgument: Substring {
    var depth = 0
    for index in self.indices {
      if "([{".contains(self[index]) { depth += 1 }
      if depth == 0, ",)]".contains(self[index]) { return self[index...] }
      if ")]}".contains(self[index]) { depth -= 1 }
    }
    return ""
  }
}
