extension Encoder {
  /// Encodes the stored members of a value by their names, without those that are nil.
  ///
  /// Code that the compiler writes for each type would do the same, and is a part of the library for each type.
  func encodeMembers(of value: some Encodable) throws {
    var container = self.container(keyedBy: MemberName.self)
    for (label, member) in Mirror(reflecting: value).children {
      let mirror = Mirror(reflecting: member)
      if mirror.displayStyle == .optional, mirror.children.isEmpty { continue }
      guard let label, let member = member as? any Encodable else { continue }
      try container.encode(member, forKey: MemberName(stringValue: label))
    }
  }
}

private struct MemberName: CodingKey {
  let stringValue: String
  let intValue: Int? = nil

  init(stringValue: String) {
    self.stringValue = stringValue
  }

  init?(intValue: Int) {
    return nil
  }
}
