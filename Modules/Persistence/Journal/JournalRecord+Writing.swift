extension JournalRecord {
  /// The bytes of a stored entry, with the arguments at the end. An encoder takes about ten times as long.
  ///
  /// - Throws: The error of the encoder, which writes what this does not.
  func write() throws -> [UInt8] {
    let numbers = [self.acceptedAt, self.expiresAt, self.lifetime, self.retriedAt, self.dueAt]
    guard self.unknown == nil, numbers.allSatisfy({ $0?.isFinite ?? true }) else { return try self.encoded() }
    var text = PlainJSONText(capacity: 512 + self.arguments.utf8.count)
    text.add("format", number: self.format)
    text.add("id", self.id)
    text.add("name", self.name)
    text.add("scope", self.scope)
    text.add("acceptedAt", number: self.acceptedAt)
    text.add("attempts", number: self.attempts)
    // The name in the stored form is older than the name of the property.
    text.add("isSetAside", self.isDeadLetter)
    text.add("failures", number: self.failures)
    text.add("isBegun", self.isBegun)
    text.add("owner", self.owner)
    text.add("mergeKey", self.mergeKey)
    text.add("expiresAt", number: self.expiresAt)
    text.add("lifetime", number: self.lifetime)
    text.add("version", number: self.version)
    text.add("aside", self.aside)
    text.add("base", self.base)
    text.add("revision", number: self.revision)
    text.add("current", self.current)
    text.add("currentBytes", self.currentBytes)
    text.add("holdsScope", self.holdsScope)
    text.add("retriedAt", number: self.retriedAt)
    text.add("letsPass", self.letsPass)
    text.add("wasSent", self.wasSent)
    text.add("schedule", self.schedule)
    text.add("dueAt", number: self.dueAt)
    text.add("argumentBytes", self.argumentBytes)
    text.add("arguments", self.arguments)
    return text.end()
  }
}

/// An object of JSON that is being written. Members without a value are left out.
private struct PlainJSONText {
  private var bytes: [UInt8] = []

  init(capacity: Int) {
    self.bytes.reserveCapacity(capacity)
  }

  mutating func add(_ name: StaticString, _ value: String?) {
    guard var value else { return }
    self.begin(name)
    self.bytes.append(UInt8(ascii: "\""))
    value.withUTF8 { text in
      // Most texts have nothing to escape, and are copied at once.
      var rest = text
      while let place = rest.firstIndex(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
        self.bytes += UnsafeBufferPointer(rebasing: rest[..<place])
        self.escape(rest[place])
        rest = UnsafeBufferPointer(rebasing: rest[(place + 1)...])
      }
      self.bytes += rest
    }
    self.bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): self.bytes += [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "\n"): self.bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
    default: self.bytes += Array("\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8)
    }
  }

  mutating func add(_ name: StaticString, _ value: Bool?) {
    if let value { self.add(name, number: value) }
  }

  /// Adds what is written as its description: a finite number.
  mutating func add(_ name: StaticString, number: (some CustomStringConvertible)?) {
    guard let number else { return }
    self.begin(name)
    self.bytes += number.description.utf8
  }

  private mutating func begin(_ name: StaticString) {
    self.bytes += self.bytes.isEmpty ? "{\"".utf8 : ",\"".utf8
    self.bytes += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    self.bytes += "\":".utf8
  }

  mutating func end() -> [UInt8] {
    self.bytes.append(UInt8(ascii: "}"))
    return self.bytes
  }
}
