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
    let start = self.start(at: place)
    return self.mask(bytes, after: start) + self.code(bytes, after: start)
  }

  package func open(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
    guard bytes.count >= 16 else { throw Forged() }
    let start = self.start(at: place)
    let content = self.mask(Array(bytes[..<(bytes.count - 16)]), after: start)
    guard self.code(content, after: start) == Array(bytes[(bytes.count - 16)...]) else { throw Forged() }
    return content
  }

  package func digest(of text: String) -> [UInt8] {
    Array(self.code(Array(text.utf8), after: self.start(at: "digest")).prefix(self.digestCount))
  }

  private func start(at place: String) -> UInt64 {
    self.hash(Array((self.ignoresPlaces ? "" : place).utf8), after: self.number)
  }

  // These have no iterators and slices, which take most of the time of a build for debugging.

  private func mask(_ bytes: [UInt8], after start: UInt64) -> [UInt8] {
    var (state, masked, index) = (start, bytes, 0)
    masked.withUnsafeMutableBufferPointer { masked in
      while index < masked.count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        masked[index] ^= UInt8(truncatingIfNeeded: state >> 40)
        index += 1
      }
    }
    return masked
  }

  private func code(_ bytes: [UInt8], after start: UInt64) -> [UInt8] {
    let first = self.hash(bytes, after: start)
    let words = (first.littleEndian, self.hash(bytes, after: first &+ 1).littleEndian)
    return withUnsafeBytes(of: words) { Array($0) }
  }

  private func hash(_ bytes: [UInt8], after start: UInt64) -> UInt64 {
    var (hash, index) = (start ^ 0xCBF2_9CE4_8422_2325, 0)
    bytes.withUnsafeBufferPointer { bytes in
      // A byte behind the last one, so that the end counts.
      while index <= bytes.count {
        hash = (hash ^ (index < bytes.count ? UInt64(bytes[index]) : 0xFF)) &* 0x100_0000_01B3
        hash ^= hash >> 29
        index += 1
      }
    }
    return hash
  }
}
