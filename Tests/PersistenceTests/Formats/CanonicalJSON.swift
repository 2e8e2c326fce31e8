import FoundationEssentials

/// A text in which the order of the members of JSON objects does not count, also of objects in strings.
func canonicalText(_ text: String) -> String {
  // A value has a line in front of its JSON.
  let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  return lines.map { line in
    (try? JSONDecoder().decode(CanonicalJSON.self, from: Data(line.utf8)))?.text ?? line
  }
  .joined(separator: "\n")
}

private struct CanonicalJSON: Decodable {
  let text: String

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Name.self) {
      let members = try container.allKeys.map { name in
        "\(name.stringValue): \(try container.decode(CanonicalJSON.self, forKey: name).text)"
      }
      self.text = "{\(members.sorted().joined(separator: ", "))}"
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [String] = []
      while !container.isAtEnd { elements.append(try container.decode(CanonicalJSON.self).text) }
      self.text = "[\(elements.joined(separator: ", "))]"
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self.text = "null"
      } else if let flag = try? container.decode(Bool.self) {
        self.text = "\(flag)"
      } else if let number = try? container.decode(Double.self) {
        self.text = "\(number)"
      } else {
        let string = try container.decode(String.self)
        self.text = string.hasPrefix("{") ? canonicalText(string) : "\"\(string)\""
      }
    }
  }
}
