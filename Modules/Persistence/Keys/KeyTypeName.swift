internal import OperationCore

/// The names of types in keys.
///
/// Those of types that the library knows have no module: Foundation's differs between platforms.
enum KeyTypeName {
  // One entry for each type of elements.
  private static let known = Locked<[ObjectIdentifier: String]>([:])

  static func of(_ type: any Any.Type) throws(NoStorageKey) -> String {
    let id = ObjectIdentifier(type)
    if let name = self.known.withLock({ $0[id] }) { return name }
    let name = try self.make(type)
    self.known.withLock { $0[id] = name }
    return name
  }

  private static func make(_ type: any Any.Type) throws(NoStorageKey) -> String {
    // An asterisk cannot be part of a type's own name.
    let name =
      switch type {
      case let type as any StorageKeyConvertible.Type: "*" + type.storageKeyName
      case let type as any KeyPart.Type: try type.keyName
      default: String(reflecting: type)
      }
    // A private or local type, or one that has it as an argument, is named by an address.
    guard !name.contains("(unknown context at") else { throw NoStorageKey(type: type) }
    return name
  }
}
