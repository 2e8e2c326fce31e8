extension FileReader {
  mutating func object(_ node: JSONNode, _ subject: String) -> JSONObject? {
    guard case .object(let object) = node.value else {
      self.reportKind(of: node, subject, expected: "an object")
      return nil
    }
    return object
  }

  mutating func string(_ node: JSONNode, _ subject: String) -> JSONString? {
    guard case .string(let string) = node.value else {
      self.reportKind(of: node, subject, expected: "a string")
      return nil
    }
    return string
  }

  mutating func type(_ member: JSONObject.Member, allowsSome: Bool = false) -> TypeText? {
    self.string(member.value, "'\(member.name.text.onOneLine)'")
      .flatMap { TypeText($0, allowsSome: allowsSome, log: &self.log) }
  }

  mutating func documentation(of object: JSONObject) -> Documentation? {
    object["doc"].flatMap { self.string($0.value, "'doc'") }.map { Documentation($0) }
  }

  mutating func reportKind(of node: JSONNode, _ subject: String, expected: String) {
    self.log.report(
      .wrongKind,
      at: node.place,
      "\(subject) is \(node.kind)",
      remedy: "expected \(expected)"
    )
  }

  mutating func refuseUnknownFields(of object: JSONObject, _ known: [String], in subject: String) {
    for member in object.members where !known.contains(member.name.text) {
      let name = member.name.text
      let meant = known.first { $0.isLike(name) }
      self.log.report(
        .unknownField,
        at: member.name.place,
        "\(subject) has no field '\(name.onOneLine)'",
        remedy: meant.map { "did you mean '\($0)'?" }
          ?? "the fields are \(known.map { "'\($0)'" }.joined(separator: ", "))"
      )
    }
  }
}

extension String {
  /// Whether both names are equal except for case and at most one letter that is added, missing or different.
  fileprivate func isLike(_ other: String) -> Bool {
    let one = Array(self.lowercased())
    let two = Array(other.lowercased())
    guard abs(one.count - two.count) <= 1 else { return false }
    let start = zip(one, two).prefix { $0 == $1 }.count
    let end = zip(one.dropFirst(start).reversed(), two.dropFirst(start).reversed()).prefix { $0 == $1 }.count
    return max(one.count, two.count) - start - end <= 1
  }
}
