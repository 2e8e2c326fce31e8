extension Renderer {
  /// Writes a type with a case for each key, which finds the key of a path.
  ///
  /// Keys with a parameter of a type that is only named by `some` are left out, because a case needs a type.
  mutating func renderLinks(_ root: Namespace, named name: String) {
    let keys = Self.keys(in: root, path: []).filter { key, _ in
      !key.parameters.contains { $0.type.text.contains("some ") }
    }
    let (access, name) = (self.access.rawValue, SwiftName.escaped(name))
    self.endMapping()
    self.line("/// A key with its parameters, found by a path, such as that of a deep link.")
    self.line("nonisolated \(access) enum \(name): Sendable {")
    for (key, path) in keys {
      let parameters = key.parameters.map { "\(SwiftName.escapedParameter($0.name)): \($0.type.text)" }
      self.line("  /// The key `\(Self.reference(to: path))`.")
      let list = parameters.isEmpty ? "" : "(\(parameters.joined(separator: ", ")))"
      self.line("  case \(Self.caseName(of: path))\(list)")
    }
    self.line()
    let search = """
        /// Finds the key of a path.
        ///
        /// A text counts as the value that it describes: `["users", "profile", "7"]` has the identifier 7.
        ///
        /// - Parameter path: The path. If it is that of no key, the result is nil.
        \(access) init?(_ path: OperationPath) {
          let elements = Array(path)
          func begins(_ names: [String]) -> Bool { zip(elements, names).allSatisfy { $0.base as? String == $1 } }
          func value<Value>(_ place: Int, _ type: Value.Type) -> Value? {
            let base: Any = elements[place].base
            if let value = base as? Value { return value }
            guard let text = base as? String, let type = type as? any LosslessStringConvertible.Type else { return nil }
            return type.init(text) as? Value
          }
      """
    for line in search.split(separator: "\n") { self.line(String(line)) }
    for (key, path) in keys { self.renderSearch(of: key, path: path) }
    self.line("    return nil")
    self.line("  }")
    self.line()
    self.line("  /// The path of the key.")
    self.line("  \(access) var path: OperationPath {")
    self.line(keys.isEmpty ? "    switch self {}" : "    switch self {")
    for (key, path) in keys {
      let bindings = key.parameters.indices.map { "let value\($0)" }.joined(separator: ", ")
      var index = -1
      let literal = key.literal(at: path) { _ in
        index += 1
        return "value\(index)"
      }
      self.line("    case .\(Self.caseName(of: path))\(bindings.isEmpty ? "" : "(\(bindings))"): \(literal)")
    }
    if !keys.isEmpty { self.line("    }") }
    self.line("  }")
    self.line("}")
    self.line()
  }

  private mutating func renderSearch(of key: Key, path: [String]) {
    let count = path.count + key.parameters.count
    let bindings = key.parameters.enumerated().map { index, parameter in
      ", let value\(index) = value(\(path.count + index), (\(parameter.type.text)).self)"
    }
    let arguments = key.parameters.enumerated().map { "\(SwiftName.escapedLabel($1.name)): value\($0)" }
    let call = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
    self.line("    if elements.count == \(count), begins(\(path.literal))\(bindings.joined()) {")
    self.line("      self = .\(Self.caseName(of: path))\(call)")
    self.line("      return")
    self.line("    }")
  }

  /// The keys with the names of their paths.
  private static func keys(in namespace: Namespace, path: [String]) -> [(key: Key, path: [String])] {
    namespace.children.flatMap { child -> [(key: Key, path: [String])] in
      switch child {
      case .namespace(let child): self.keys(in: child, path: path + [child.name?.text ?? ""])
      case .key(let key): [(key, path + [key.name.text])]
      }
    }
  }

  private static func caseName(of path: [String]) -> String { SwiftName.escaped(path.joined(separator: "_")) }
}

extension Key {
  /// The path as a literal.
  func literal(at path: [String], _ value: (Parameter) -> String) -> String {
    "[\((path.map { "\"\($0)\"" } + self.parameters.map(value)).joined(separator: ", "))]"
  }

  /// The attribute of a deprecated key, with a blank behind it; empty for another one.
  var deprecationAttribute: String {
    guard self.isDeprecated else { return "" }
    let message = self.deprecation.map { ", message: \($0.text.asSwiftLiteral)" } ?? ""
    let name = self.replacement.map { ", renamed: \"\($0)\"" } ?? ""
    return "@available(*, deprecated\(message)\(name)) "
  }
}

extension String {
  /// The text as a literal of Swift in one line.
  fileprivate var asSwiftLiteral: String {
    let escaped = self.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case "\n": "\\n"
      case let scalar where scalar.value < 0x20 || scalar.value == 0x7F: "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
