#if SwiftOperationSQLite
  /// The bytes of a write-ahead log, for reading it where SQLite gives up.
  ///
  /// SQLite uses the transactions in front of the first damaged frame, and drops what follows without an error. Each
  /// frame has a checksum that continues the one of the frame in front of it, so frames behind a damaged one can be
  /// checked as well. See <https://www.sqlite.org/fileformat2.html#walformat>.
  struct WriteAheadLog {
    struct Frame {
      let page: Int
      /// Whether it ends a transaction.
      let isCommit: Bool
      /// Whether it has its checksum.
      let isSound: Bool
      let bytes: ArraySlice<UInt8>
    }

    /// The frames up to the end of the last transaction, including those behind a damaged one.
    private(set) var frames: [Frame] = []
    /// Whether SQLite would drop transactions.
    private(set) var isDamaged = false
    /// Whether transactions at its end are gone.
    private(set) var isCut = false
    /// Whether changes between others are gone: the pages that they are of are older ones.
    var hasDamagedFrames: Bool { self.frames.contains { !$0.isSound } }

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// Reads a log.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the log; empty if there is none.
    ///   - sharedMemory: The first bytes of the file with the index of the log; empty if there is none.
    ///   - pageSize: The size of a page of the database, if the log does not say it.
    init(_ bytes: [UInt8], sharedMemory: [UInt8], pageSize: Int) {
      let index = Index(sharedMemory)
      guard bytes.count >= Self.headerSize + Self.frameHeaderSize else {
        // A log that was closed in order goes after its index.
        self.isCut = index.map { $0.frameCount > $0.copiedCount } ?? false
        self.isDamaged = self.isCut
        return
      }
      let isBigEndian = Self.number(bytes, 0) == 0x377F_0683
      let isMagic = isBigEndian || Self.number(bytes, 0) == 0x377F_0682
      let stored = Checksum(Self.number(bytes, 24), Self.number(bytes, 28))
      var first = Checksum(0, 0)
      first.add(bytes[0..<24], isBigEndian)
      let isHeaderSound = isMagic && first == stored
      let pageSize = isHeaderSound ? Int(Self.number(bytes, 8)) : pageSize
      guard pageSize >= 512, pageSize <= 65_536 else { return }
      // The frames of an older use of the log, which are behind the current ones, have other salts.
      let salts = isHeaderSound ? bytes[16..<24] : index?.salts ?? Self.commonSalts(bytes, pageSize)

      var previous = stored
      var (isWhole, used, last) = (isHeaderSound, 0, 0)
      let size = Self.frameHeaderSize + pageSize
      for (number, start) in stride(from: Self.headerSize, through: bytes.count - size, by: size).enumerated() {
        let body = bytes[start + Self.frameHeaderSize..<start + size]
        var checksum = previous
        checksum.add(bytes[start..<start + 8], isBigEndian)
        checksum.add(body, isBigEndian)
        previous = Checksum(Self.number(bytes, start + 16), Self.number(bytes, start + 20))
        let isSound = checksum == previous
        let isCurrent = bytes[start + 8..<start + 16].elementsEqual(salts)
        isWhole = isWhole && isSound && isCurrent
        let isCommit = Self.number(bytes, start + 4) != 0
        let page = Int(Self.number(bytes, start))
        self.frames.append(Frame(page: page, isCommit: isCommit, isSound: isSound && isCurrent, bytes: body))
        guard isCurrent, isCommit, isSound || isHeaderSound else { continue }
        last = number + 1
        if isWhole { used = last }
      }
      if let index, index.salts.elementsEqual(salts) {
        // The index knows how many frames were committed.
        self.isDamaged = index.frameCount > used
        self.isCut = index.frameCount > self.frames.count
        last = min(max(used, index.frameCount), self.frames.count)
      } else {
        self.isDamaged = last > used
      }
      self.frames.removeLast(self.frames.count - last)
    }

    /// The header of the index that processes share, which survives the end of a process.
    private struct Index {
      let frameCount: Int
      /// How many frames were copied to the database.
      let copiedCount: Int
      let salts: ArraySlice<UInt8>

      init?(_ bytes: [UInt8]) {
        guard bytes.count >= 100, bytes[12] != 0 else { return nil }
        func native(_ place: Int) -> UInt32 {
          bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
        }
        var checksum = Checksum(0, 0)
        checksum.add(bytes[0..<40], UInt32(1).bigEndian == 1)
        guard checksum == Checksum(native(40), native(44)) else { return nil }
        self.frameCount = Int(native(16))
        self.copiedCount = Int(native(96))
        self.salts = bytes[32..<40]
      }
    }

    private struct Checksum: Equatable {
      var first: UInt32
      var second: UInt32

      init(_ first: UInt32, _ second: UInt32) {
        (self.first, self.second) = (first, second)
      }

      mutating func add(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) {
        var (first, second) = (self.first, self.second)
        bytes.withUnsafeBytes { bytes in
          for place in stride(from: 0, to: bytes.count - 7, by: 8) {
            let x = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
            let y = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            first &+= (isBigEndian ? UInt32(bigEndian: x) : UInt32(littleEndian: x)) &+ second
            second &+= (isBigEndian ? UInt32(bigEndian: y) : UInt32(littleEndian: y)) &+ first
          }
        }
        (self.first, self.second) = (first, second)
      }
    }

    /// The salts that most frames have, for a log whose header is damaged.
    private static func commonSalts(_ bytes: [UInt8], _ pageSize: Int) -> ArraySlice<UInt8> {
      let size = self.frameHeaderSize + pageSize
      var counts: [ArraySlice<UInt8>: Int] = [:]
      for start in stride(from: self.headerSize, through: bytes.count - size, by: size) {
        counts[bytes[start + 8..<start + 16], default: 0] += 1
      }
      return counts.max { $0.value < $1.value }?.key ?? []
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
      bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
#endif
