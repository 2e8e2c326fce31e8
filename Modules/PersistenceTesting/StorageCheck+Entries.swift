internal import OperationPersistence

/// The checks with one task, which applies one batch after the other.
extension StorageCheck {
  func checkValues() async throws -> [String] {
    let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    var findings: [String] = []
    for (key, value) in [("none", []), ("zero", [0]), ("every", Array(0...255)), ("large", large)] {
      try await self.put(key, value)
      let found = try await self.value(key)
      if found != value {
        let remedy = "Keep bytes as they are, however few or many."
        findings.append("\([UInt8]?.some(value).text) were put, and \(found.text) came back. \(remedy)")
      }
    }
    return findings
  }

  func checkKeys() async throws -> [String] {
    let ascii = (1...127).map { String(Unicode.Scalar(UInt8($0))) }
    // Composed and decomposed characters, which are equal as strings; letters that fold; characters beyond the first
    // plane; a very long key.
    let others = [
      "", "\u{E9}", "e\u{301}", "ss", "\u{DF}", "\u{212A}", "\u{FFFD}", "\u{10FFFF}", "\u{1F468}\u{200D}\u{1F469}",
      String(repeating: "k", count: 1_000),
    ]
    let keys = ascii + others
    try await self.storage.apply(keys.enumerated().map { .put(key: $1, value: [UInt8($0)]) })
    var findings: [String] = []
    for (number, key) in keys.enumerated() {
      let found = try await self.value(key)
      if found != [UInt8(number)] {
        findings.append(
          "the key \(key.prefix(8).debugDescription) was put with [\(number)], and has \(found.text). "
            + "Compare keys byte by byte, in their UTF-8."
        )
      }
    }
    let count = try await self.keys().count
    if findings.isEmpty, count != keys.count {
      findings.append("\(keys.count) keys were put, and \(count) are there. Keep each key once.")
    }
    return findings
  }

  func checkReplacement() async throws -> [String] {
    try await self.put("a", [1])
    try await self.put("a", [2, 2])
    try await self.storage.apply([.put(key: "b", value: [3]), .put(key: "b", value: [4])])
    try await self.storage.apply([.remove(key: "c"), .put(key: "c", value: [5])])
    try await self.storage.apply([.put(key: "d", value: [6]), .remove(key: "d")])
    let remedy = "Make the changes in order: a later one replaces an earlier one of its key."
    var findings: [String] = []
    for (key, value) in [("a", [2, 2]), ("b", [4]), ("c", [5]), ("d", nil)] as [(String, [UInt8]?)] {
      let found = try await self.value(key)
      if found != value {
        findings.append("the newest change of \"\(key)\" left \(value.text), and there was \(found.text). \(remedy)")
      }
    }
    return findings
  }

  func checkRemoval() async throws -> [String] {
    try await self.storage.apply(["a", "a/b", "b"].map { .put(key: $0, value: [1]) })
    try await self.storage.apply([.remove(key: "a"), .remove(key: "none")])
    let remedy = "Remove the entry with that key, and no other; without one there is nothing to do."
    let findings = try await self.finding("after \"a\" was removed", expected: ["a/b", "b"], remedy)
    if !findings.isEmpty { return findings }
    try await self.put("a")
    return try await self.finding("after \"a\" was put again", expected: ["a", "a/b", "b"], remedy)
  }

  func checkEmptyBatch() async throws -> [String] {
    let remedy = "Return without an error and without a change."
    for expected in [[], ["a", "b"]] {
      do { try await self.storage.apply([]) } catch { return ["a batch without changes threw \(error). \(remedy)"] }
      let findings = try await self.finding("after an empty batch", expected: expected, remedy)
      if !findings.isEmpty { return findings }
      try await self.storage.apply(["a", "b"].map { .put(key: $0, value: [1]) })
    }
    return []
  }

  func checkPrefix() async throws -> [String] {
    let keys = ["A", "a", "a%b", "a*b", "a/", "a/1", "a/10", "a/2", "a0", "a?b", "a_b", "axb", "b"]
    try await self.storage.apply(keys.map { .put(key: $0, value: [1]) })
    var findings: [String] = []
    for prefix in ["", "a", "a/", "a/1", "a%", "a_", "a*", "a?", "A", "none", "b0"] {
      let expected = keys.filter { $0.utf8.starts(with: prefix.utf8) }
      let moment = "with the prefix \"\(prefix)\""
      findings += try await self.finding(moment, prefix, expected: expected, "Take each byte of the prefix as it is.")
    }
    return findings
  }

  func checkOrder() async throws -> [String] {
    let keys = ["b", "a/2", "a/10", "a", "B", "~", "a!", "1", "10", "2"]
    for key in keys { try await self.put(key) }
    let expected = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return try await self.finding("after puts in another order", expected: expected, "Sort by the bytes of the keys.")
  }

  func checkSizes() async throws -> [String] {
    var generator = SystemRandomNumberGenerator()
    func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) } }
    let counts = [("a/2", 10), ("a/1", 2_000), ("b", 1), ("a", 10)]
    try await self.storage.apply(counts.map { .put(key: $0, value: random($1)) })
    try await self.put("a/1", random(1_000))
    try await self.storage.apply([.remove(key: "a")])
    let sizes = try await self.storage.sizes(withPrefix: "a")
    guard sizes.map(\.key) == ["a/1", "a/2"] else {
      return [
        "the sizes with the prefix \"a\" have the keys \(sizes.map(\.key)), not [\"a/1\", \"a/2\"]. "
          + "Return one for each entry of `entries(withPrefix:)`, in its order."
      ]
    }
    if sizes[0].byteCount > sizes[1].byteCount { return [] }
    return [
      "a value of 1000 bytes has the size \(sizes[0].byteCount), and one of 10 has \(sizes[1].byteCount). "
        + "Return the size of the newest value."
    ]
  }
}
