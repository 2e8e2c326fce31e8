internal import OperationFoundation

/// Encodes stored values and the arguments of journaled calls, and decodes them in later starts of the program.
///
/// ```swift
/// struct PropertyListCoder: StorageCoder {
///   func encode(_ value: some Encodable) throws -> [UInt8] { Array(try PropertyListEncoder().encode(value)) }
///   func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
///     try PropertyListDecoder().decode(type, from: Data(bytes))
///   }
/// }
///
/// let query = NoteQuery(id: id).persisted(as: "note", coder: PropertyListCoder())
/// ```
///
/// What is stored does not name its coder. Raise the `version` with another coder, and decode older bytes in `migrate:`.
public protocol StorageCoder: Sendable {
  /// Encodes a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: Any bytes.
  /// - Throws: Any error. The value is then not stored, and the error is reported or thrown to the caller.
  func encode(_ value: some Encodable) throws -> [UInt8]

  /// Decodes a value.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: What ``encode(_:)`` has returned.
  /// - Returns: The value.
  /// - Throws: Any error. It is reported; the bytes of a value are then dropped, and the bytes of a call are kept.
  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

/// Encodes values as JSON, which people can read, and which later versions of a type with new optional members decode.
///
/// Dates and floating-point numbers keep their exact values, those that are not finite included, and integers all of
/// their digits. JSON has one null, so of an optional of an optional, such as `String??`, `.some(nil)` comes back as nil.
public struct JSONStorageCoder: StorageCoder {
  /// Creates a coder.
  public init() {}

  public func encode(_ value: some Encodable) throws -> [UInt8] { try StorageCoding.encode(value) }

  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    let known = type as? any DecodableFromMembers.Type
    if let value = known?.decode(type, fromMembersIn: bytes) { return value }
    return try StorageCoding.decode(type, from: bytes)
  }
}

extension StorageCoder where Self == JSONStorageCoder {
  /// JSON, the default.
  public static var json: Self { JSONStorageCoder() }
}

/// Bytes in a journal entry: as text if they are some, and otherwise in Base64.
struct StoredBytes: Hashable, Sendable {
  let text: String
  let base64: String?

  init(_ bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self) {
      self.text = text
      self.base64 = nil
    } else {
      self.text = ""
      self.base64 = Data(bytes).base64EncodedString()
    }
  }

  init(text: String, base64: String?) {
    self.text = text
    self.base64 = base64
  }

  var bytes: [UInt8] { self.base64.flatMap { Data(base64Encoded: $0) }.map(Array.init) ?? Array(self.text.utf8) }
}
