/// The members of a stored entry that this version of the library does not know.
///
/// They are written again with the entry. So they are not lost when a program is downgraded and updated again.
struct UnknownMembers: Codable, Equatable, Sendable {
  private var members: [String: JSONMember] = [:]

  var isEmpty: Bool { self.members.isEmpty }

  /// - Parameters:
  ///   - decoder: The decoder of the entry.
  ///   - known: Returns whether a member is known.
  /// - Throws: The error of the decoder.
  init(from decoder: any Decoder, known: (String) -> Bool) throws {
    let container = try decoder.container(keyedBy: MemberName.self)
    for name in container.allKeys where !known(name.stringValue) {
      self.members[name.stringValue] = try container.decode(JSONMember.self, forKey: name)
    }
  }

  init(from decoder: any Decoder) throws {
    try self.init(from: decoder) { _ in false }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: MemberName.self)
    for (name, member) in self.members { try container.encode(member, forKey: MemberName(stringValue: name)) }
  }
}

private struct MemberName: CodingKey {
  let stringValue: String

  init(stringValue: String) { self.stringValue = stringValue }

  var intValue: Int? { nil }

  init?(intValue: Int) { nil }
}

/// A value of JSON.
private enum JSONMember: Codable, Equatable, Sendable {
  case null
  case flag(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([JSONMember])
  case object([String: JSONMember])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([JSONMember].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: JSONMember].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .flag(let flag): try container.encode(flag)
    case .integer(let integer): try container.encode(integer)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .object(let object): try container.encode(object)
    }
  }
}
