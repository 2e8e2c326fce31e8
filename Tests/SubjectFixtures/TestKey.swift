internal import OperationPersistence

/// A key for tests that does what a sealing key does, and keeps no secret.
package struct TestKey: SealingKey {
  package struct Forged: Error {}

  private let number: UInt64
  /// Whether what it seals opens at each place, as a careless key would have it.
  private let ignoresPlaces: Bool
  private let digestCount: Int
  private let fails: Bool

  package init(_ number: UInt64, ignoresPlaces: Bool = false, digestCount: Int = 16, fails: Bool = false) {
    self.number = number
    self.ignoresPlaces = ignoresPlaces
    self.digestCount = digestCount
    self.fails = fails
  }

  package func seal(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
    if self.fails { throw Forged() }
    return self.mask(bytes, at: place) + self.code(bytes, at: place)
  }

  package func open(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
    guard bytes.count >= 16 else { throw Forged() }
    let content = self.mask(bytes.dropLast(16), at: place)
    guard self.code(content, at: place).elementsEqual(bytes.suffix(16)) else { throw Forged() }
    return content
  }

  package func digest(of text: String) -> [UInt8] {
    Array(self.code(Array(text.utf8), at: "digest").prefix(self.digestCount))
  }

  private func mask(_ bytes: some Sequence<UInt8>, at place: String) -> [UInt8] {
    var state = self.hash(Array((self.ignoresPlaces ? "" : place).utf8), after: self.number)
    return bytes.map { byte in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return byte ^ UInt8(truncatingIfNeeded: state >> 40)
    }
  }

  private func code(_ bytes: [UInt8], at place: String) -> [UInt8] {
    let start = self.hash(Array((self.ignoresPlaces ? "" : place).utf8), after: self.number)
    let first = self.hash(bytes, after: start)
    let second = self.hash(bytes, after: first &+ 1)
    return [first, second].flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
  }

  private func hash(_ bytes: [UInt8], after start: UInt64) -> UInt64 {
    var hash = start ^ 0xCBF2_9CE4_8422_2325
    // Without an iterator, which takes most of the time of a build for debugging.
    (bytes + [0xFF]).withUnsafeBufferPointer { bytes in
      var index = 0
      while index < bytes.count {
        hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
        hash ^= hash >> 29
        index += 1
      }
    }
    return hash
  }
}
