#if SwiftOperationSQLite && os(Linux)
  import OperationPersistence

  /// A key that does what a sealing key does, and keeps no secret.
  struct SubjectKey: SealingKey {
    struct Forged: Error {}

    let number: UInt64

    func seal(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
      bytes.map { $0 ^ UInt8(truncatingIfNeeded: self.number) } + self.code(bytes, place)
    }

    func open(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
      let content = bytes.dropLast(16).map { $0 ^ UInt8(truncatingIfNeeded: self.number) }
      guard bytes.suffix(16).elementsEqual(self.code(content, place)) else { throw Forged() }
      return content
    }

    func digest(of text: String) -> [UInt8] { self.code(Array(text.utf8), "digest") }

    private func code(_ bytes: [UInt8], _ place: String) -> [UInt8] {
      [self.number, self.number &+ 1_000].flatMap { start in
        var hash = start ^ 0xCBF2_9CE4_8422_2325
        for byte in Array(place.utf8) + [0xFF] + bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return withUnsafeBytes(of: (hash ^ hash >> 32).littleEndian) { Array($0) }
      }
    }
  }
#endif
