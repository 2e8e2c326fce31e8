internal import OperationCore

extension Optional: KeyPart {
  static var keyName: String { get throws(NoStorageKey) { "Optional<\(try KeyTypeName.of(Wrapped.self))>" } }

  func append(to text: inout KeyText) throws(NoStorageKey) {
    try text.appendList(self.map { [$0] } ?? []) { text, value throws(NoStorageKey) in try text.append(value: value) }
  }
}

extension KeyPart where Self: Sequence {
  func append(to text: inout KeyText) throws(NoStorageKey) {
    try text.appendList(self) { text, value throws(NoStorageKey) in try text.append(value: value) }
  }
}

extension Array: KeyPart {
  static var keyName: String { get throws(NoStorageKey) { "Array<\(try KeyTypeName.of(Element.self))>" } }
}

extension ArraySlice: KeyPart {
  static var keyName: String { get throws(NoStorageKey) { "ArraySlice<\(try KeyTypeName.of(Element.self))>" } }
}

extension ContiguousArray: KeyPart {
  static var keyName: String { get throws(NoStorageKey) { "ContiguousArray<\(try KeyTypeName.of(Element.self))>" } }
}

extension Set: KeyPart {
  static var keyName: String { get throws(NoStorageKey) { "Set<\(try KeyTypeName.of(Element.self))>" } }

  func append(to text: inout KeyText) throws(NoStorageKey) {
    try text.appendSorted(self) { text, value throws(NoStorageKey) in try text.append(value: value) }
  }
}

extension Dictionary: KeyPart {
  static var keyName: String {
    get throws(NoStorageKey) { "Dictionary<\(try KeyTypeName.of(Key.self)), \(try KeyTypeName.of(Value.self))>" }
  }

  func append(to text: inout KeyText) throws(NoStorageKey) {
    try text.appendSorted(self) { text, entry throws(NoStorageKey) in
      try text.append(value: entry.key)
      text.append(":")
      try text.append(value: entry.value)
    }
  }
}

// MARK: - Paths

extension OperationPath: KeyPart {
  static var keyName: String { "OperationPath" }
}

extension OperationPath.Element: KeyPart {
  static var keyName: String { "OperationPath.Element" }

  func append(to text: inout KeyText) throws(NoStorageKey) {
    try text.append(self)
  }
}
