internal import OperationFleet

/// The checks of values, keys and times.
extension FleetBackendCheck {
  func checkValues() async throws -> [String] {
    let key = self.key("posts/1")
    if try await self.isFresh(key) { return ["nothing was stored, and a value was found. Begin without values."] }
    let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    var findings: [String] = []
    var last: Int64 = 0
    for bytes in [[], [0], Array(0...255), large, [7]] {
      let revision = try await self.put(key, bytes)
      let found = try await self.value(key)
      if found?.bytes != bytes {
        let text = found.map { "\($0.bytes.count) others" } ?? "no value"
        findings.append("\(bytes.count) bytes were stored, and \(text) came back. Keep bytes as they are.")
      } else if found?.revision != revision {
        findings.append(
          "a value was stored with the revision \(revision), and found with \(found?.revision ?? 0). Return the same."
        )
      }
      if revision <= last {
        findings.append("the revision \(last) was followed by \(revision). Let the revisions of a key ascend.")
      }
      last = revision
    }
    return findings
  }

  func checkKeys() async throws -> [String] {
    // The characters that keys consist of, letters in both cases, and what databases treat in a special way.
    let texts = ["a", "A", "a%b", "aXb", "a_b", "a-b", "a.b", "a:b", "a=b", "(a)", "[a,b]", "a''b", "a\\b", "a\"b"]
    let long = String(repeating: "k", count: FleetLimits.keyLength - 20)
    let paths = texts + [long + "1", long + "2"]
    for (number, path) in paths.enumerated() { try await self.put(self.key(path), [UInt8(number)]) }
    var findings: [String] = []
    for (number, path) in paths.enumerated() {
      let found = try await self.value(self.key(path))?.bytes
      if found != [UInt8(number)] {
        findings.append("the key of \(path.prefix(8)) lost its value. Compare keys byte by byte, to their end.")
      }
    }
    for path in ["a_b", "a%b", "A", long + "1"] { try await self.invalidate(self.subject(path)) }
    for path in paths {
      let isInvalidated = ["a_b", "a%b", "A", long + "1"].contains(path)
      if try await self.isFresh(self.key(path)) == isInvalidated {
        let what = isInvalidated ? "was invalidated, and is fresh" : "was not invalidated, and is stale"
        findings.append("\(path.prefix(8)) \(what). Compare subjects byte by byte, to their end.")
      }
    }
    return findings
  }

  func checkBatches() async throws -> [String] {
    let keys = (0..<FleetLimits.batch).map { self.key("posts/\($0)") }
    for number in stride(from: 0, to: keys.count, by: 50) { try await self.put(keys[number], [UInt8(number / 50)]) }
    let values = try await self.backend.lookUp(keys.reversed()).values
    guard values.count == keys.count else {
      return ["\(keys.count) keys were looked up, and \(values.count) answers came. Answer for each key."]
    }
    for (number, value) in values.reversed().enumerated() {
      let expected = number % 50 == 0 ? [UInt8(number / 50)] : nil
      if value?.bytes != expected {
        return ["the answer \(number) of \(keys.count) belongs to another key. Answer in the order of the keys."]
      }
    }
    _ = try await self.backend.invalidate(keys.map { $0.subjects[2] }, by: "node")
    let rest = try await self.backend.lookUp(keys).values.count { $0 != nil }
    if rest == 0 { return [] }
    return ["\(keys.count) subjects were invalidated, and \(rest) values are fresh. Invalidate each of them."]
  }

  func checkTimeToLive() async throws -> [String] {
    let (short, long) = (self.key("short"), self.key("long"))
    try await self.put(short, timeToLive: .milliseconds(40))
    try await self.put(long)
    try await self.pass(self.backend, .milliseconds(50))
    var findings: [String] = []
    if try await self.isFresh(short) {
      findings.append("a value that lives 40 ms is fresh after 50 ms. End it by the clock of the backend.")
    }
    guard let value = try await self.value(long) else {
      return findings + ["a value that lives for an hour is gone after 50 ms. Keep it."]
    }
    if value.age < .milliseconds(45) || value.age > .seconds(1_800) {
      findings.append("a value is 50 ms old, and its age is \(value.age). Measure it by the clock of the backend.")
    }
    let answer = try await self.acquire(short)
    guard case .granted = answer else {
      return findings + ["a value had ended, and the lease of its key was answered with \(answer). Grant it."]
    }
    return findings
  }
}
