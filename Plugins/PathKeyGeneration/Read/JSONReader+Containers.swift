extension JSONReader {
  /// Reads the value at the current position; nil after an error, which has been reported.
  mutating func value() -> JSONNode? {
    let start = self.place(self.offset)
    func node(_ value: JSONNode.Value?) -> JSONNode? { value.map { JSONNode(place: start, value: $0) } }

    guard !self.isAtEnd else {
      self.reportMissingValue()
      return nil
    }
    switch Unicode.Scalar(self.current) {
    case "{": return node(self.nested { $0.object() }.map { .object($0) })
    case "[": return node(self.nested { $0.array() }.map { .array($0) })
    case "\"", "'": return node(self.string().map { .string($0) })
    case "+", "-", ".", "0"..."9": return node(self.number())
    default: return node(self.word())
    }
  }

  private mutating func reportMissingValue() {
    guard !self.hasReportedEnd else { return }
    self.hasReportedEnd = self.isAtEnd
    self.report(
      .expectedValue,
      "expected a value, found \(self.found)",
      remedy: self.depth == 0 ? "write an object, such as { paths: { … } }" : "write an object or a string in quotes"
    )
  }

  private mutating func word() -> JSONNode.Value? {
    let start = self.offset
    guard let name = self.unquotedName() else {
      self.reportMissingValue()
      return nil
    }
    switch name.text {
    case "true", "false": return .boolean
    case "null": return .null
    case "Infinity", "NaN": return .number
    default:
      self.report(.expectedValue, at: start, "'\(name.text.onOneLine)' is not a value", remedy: "put it in quotes")
      return nil
    }
  }

  /// Reads the contents of a bracket. If the nesting is too deep, reports this and skips them.
  private mutating func nested<Result>(_ read: (inout Self) -> Result) -> Result? {
    guard self.depth < Self.maximumDepth else {
      self.report(.tooDeep, "nested deeper than \(Self.maximumDepth) levels", remedy: "use fewer namespaces")
      self.skipNested()
      return nil
    }
    self.depth += 1
    defer { self.depth -= 1 }
    return read(&self)
  }

  private mutating func array() -> [JSONNode] {
    var elements: [JSONNode] = []
    _ = self.items(until: "]") { reader in
      guard let element = reader.value() else { return false }
      elements.append(element)
      return true
    }
    return elements
  }

  private mutating func object() -> JSONObject {
    var object = JSONObject()
    var places: [String: Place] = [:]
    object.isIncomplete = !self.items(until: "}") { reader in
      guard let name = reader.name() else { return false }
      reader.skipBlanks()
      guard reader.isAt(":") else {
        guard !reader.isAtEnd else { return false }
        reader.report(
          .expectedColon,
          "expected ':' after '\(name.text.onOneLine)', found \(reader.found)",
          remedy: "write name and value as name: value"
        )
        return false
      }
      reader.offset += 1
      reader.skipBlanks()
      guard let value = reader.value() else { return false }
      if let first = places[name.text] {
        reader.report(
          .duplicateName,
          at: name.place.offset,
          "'\(name.text.onOneLine)' is defined twice, first at \(first.description)",
          remedy: "remove or rename one"
        )
      } else {
        places[name.text] = name.place
        object.members.append(JSONObject.Member(name: name, value: value))
      }
      return true
    }
    return object
  }

  /// Reads items separated by commas. Returns false if a part of them could not be read.
  private mutating func items(until end: Unicode.Scalar, read: (inout Self) -> Bool) -> Bool {
    let start = self.offset
    var isComplete = true
    self.offset += 1
    self.skipBlanks()
    while !self.isAtEnd, !self.isAt(end) {
      if self.isAt("}") || self.isAt("]") {
        self.report(.mismatchedBracket, "\(self.found) closes no bracket", remedy: "expected ',' or '\(end)'")
        self.offset += 1
        isComplete = false
      } else if !read(&self) {
        isComplete = false
        self.skipItem()
      }
      self.skipBlanks()
      if self.isAt(",") {
        self.offset += 1
        self.skipBlanks()
      } else if !self.isAtEnd, !self.isAt("}"), !self.isAt("]") {
        self.report(.expectedComma, "expected ',' or '\(end)', found \(self.found)", remedy: "put a comma before it")
        if !self.startsItem {
          isComplete = false
          self.skipItem()
        }
      }
    }
    if self.isAtEnd {
      isComplete = false
      self.reportEnd(of: "'\(Unicode.Scalar(self.bytes[start]))'", from: start, remedy: "close it by '\(end)'")
    } else {
      self.offset += 1
    }
    return isComplete
  }
}
