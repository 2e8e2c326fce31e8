package import OperationCore
internal import OperationFoundation

/// The members of a stored value in JSON, apart from the value itself, which is not looked at.
///
/// A JSON decoder takes as long for these as for a small value. What does not look as the encoder writes it, down to its
/// blanks, has no members here, and the decoder decodes or refuses all of it.
struct StoredValueMembers {
  /// Where the value is; nil if there is none.
  private(set) var value: Range<Int>?
  private(set) var valueUpdateCount = 0
  private(set) var valueLastUpdatedAt = Date(timeIntervalSinceReferenceDate: 0)
  private(set) var errorUpdateCount = 0
  private(set) var errorLastUpdatedAt: Date?

  init?(_ bytes: [UInt8]) {
    guard bytes.withUnsafeBufferPointer({ self.read(JSONMembers($0)) }) else { return nil }
  }

  private mutating func read(_ members: JSONMembers) -> Bool {
    var members = members
    var found: UInt8 = 0
    guard members.begin() else { return false }
    repeat {
      guard let key = members.key(), let name = Name(key), found & name.rawValue == 0, let range = members.value(),
        self.set(name, members.bytes, range)
      else { return false }
      found |= name.rawValue
    } while members.next()
    return members.isAtEnd && found & Name.required == Name.required
  }

  private mutating func set(_ name: Name, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
    let text = UnsafeBufferPointer(rebasing: bytes[range])
    switch name {
    case .value: self.value = range
    // Without a value there is nothing to save.
    case .hasValue: return text.elementsEqual("true".utf8)
    case .valueUpdateCount: return Self.set(&self.valueUpdateCount, text)
    case .errorUpdateCount: return Self.set(&self.errorUpdateCount, text)
    case .valueLastUpdatedAt: return Self.set(&self.valueLastUpdatedAt, text)
    case .errorLastUpdatedAt:
      var date = self.valueLastUpdatedAt
      guard Self.set(&date, text) else { return false }
      self.errorLastUpdatedAt = date
    }
    return true
  }

  private static func set(_ number: inout Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let value = PlainText.integer(text) else { return false }
    number = value
    return true
  }

  private static func set(_ date: inout Date, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let seconds = PlainText.number(text) else { return false }
    date = Date(timeIntervalSinceReferenceDate: seconds)
    return true
  }

  /// A member, as a bit.
  private enum Name: UInt8 {
    case value = 1
    case hasValue = 2
    case valueUpdateCount = 4
    case valueLastUpdatedAt = 8
    case errorUpdateCount = 16
    case errorLastUpdatedAt = 32

    /// All but the last one.
    static let required: UInt8 = 31

    private var text: StaticString {
      switch self {
      case .value: "value"
      case .hasValue: "hasValue"
      case .valueUpdateCount: "valueUpdateCount"
      case .valueLastUpdatedAt: "valueLastUpdatedAt"
      case .errorUpdateCount: "errorUpdateCount"
      case .errorLastUpdatedAt: "errorLastUpdatedAt"
      }
    }

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
      // Told apart by their lengths and their first characters.
      switch (bytes.count, bytes.first == UInt8(ascii: "v")) {
      case (5, _): self = .value
      case (8, _): self = .hasValue
      case (16, true): self = .valueUpdateCount
      case (16, false): self = .errorUpdateCount
      case (18, true): self = .valueLastUpdatedAt
      case (18, false): self = .errorLastUpdatedAt
      default: return nil
      }
      guard self.text.withUTF8Buffer({ $0.hasSameBytes(as: bytes) }) else { return nil }
    }
  }
}

/// A type that is decoded from JSON with its members apart.
package protocol DecodableFromMembers {
  /// Decodes a value; nil if that needs the decoder, which then also says what is wrong.
  init?(fromMembersIn bytes: [UInt8])
}

extension DecodableFromMembers {
  /// Decodes a value of a type that the caller knows by another name.
  static func decode<Value>(_ type: Value.Type, fromMembersIn bytes: [UInt8]) -> Value? {
    // A cast would put the value into a box and look both types up.
    guard Value.self == Self.self, let value = Self(fromMembersIn: bytes) else { return nil }
    return unsafeBitCast(value, to: Value.self)  // From the same type.
  }
}

extension OperationCore.StoredValue: DecodableFromMembers where Value: Decodable {
  package init?(fromMembersIn bytes: [UInt8]) {
    guard let members = StoredValueMembers(bytes), let range = members.value,
      let value = PlainJSON.decode(Value.self, from: bytes, in: range)
        ?? (try? StorageCoding.decode(Value.self, from: bytes[range]))
    else { return nil }
    self.init(
      value: value,
      valueUpdateCount: members.valueUpdateCount,
      valueLastUpdatedAt: members.valueLastUpdatedAt,
      errorUpdateCount: members.errorUpdateCount,
      errorLastUpdatedAt: members.errorLastUpdatedAt
    )
  }
}
