internal import Synchronization

extension OperationRequest {
  public var operationName: String { OperationName.of(Self.unmodifiedType) }
}

/// Names of operations, for kinds of operations with names of their own.
public enum OperationName {
  // One entry for each type whose name was requested.
  private static let known = Mutex<[ObjectIdentifier: String]>([:])

  /// The name of a type with the types that it is nested in, without its module: `Post.Query`.
  ///
  /// - Parameter type: The type. Its name is made once and kept.
  /// - Returns: The name. It has no user data, as it is made of the source alone.
  public static func of(_ type: any Any.Type) -> String {
    let id = ObjectIdentifier(type)
    if let name = self.known.withLock({ $0[id] }) { return name }
    // The first component is the module. A component in parentheses represents a function or a file.
    let enclosing = self.components(of: String(reflecting: type)).dropFirst().dropLast().filter { !$0.hasPrefix("(") }
    let name = (enclosing.map { String($0.prefix { $0 != "<" }) } + ["\(type)"]).joined(separator: ".")
    self.known.withLock { $0[id] = name }
    return name
  }

  /// The name of a type without its generic parameters: `Polling`.
  static func withoutParameters(_ type: any Any.Type) -> String { String(self.of(type).prefix { $0 != "<" }) }

  /// The parts of a name between its dots, except for dots within brackets.
  private static func components(of name: String) -> [Substring] {
    var components: [Substring] = []
    var (start, depth) = (name.startIndex, 0)
    for index in name.indices {
      switch name[index] {
      case "<", "(", "[": depth += 1
      case ">", ")", "]": depth -= 1
      case "." where depth == 0:
        components.append(name[start..<index])
        start = name.index(after: index)
      default: break
      }
    }
    return components + [name[start...]]
  }
}
