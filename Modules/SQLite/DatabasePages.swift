#if SwiftOperationSQLite
  internal import Foundation

  /// The newest pages of a database file with its write-ahead log, read without SQLite.
  struct DatabasePages {
    let size: Int
    let count: Int
    /// The bytes of a page at its end that SQLite does not use.
    let reserved: Int
    /// Pages of the log whose checksums are wrong, so that even their numbers may be.
    let loose: [[UInt8]]

    private let file: OpenFile
    private let logged: [Int: ArraySlice<UInt8>]

    init(file: OpenFile, log: WriteAheadLog) {
      let header = file.read(at: 0, count: 100) ?? []
      self.file = file
      self.size = Self.size(header)
      self.reserved = header.count == 100 && Self.isHeader(header) && header[20] <= 32 ? Int(header[20]) : 0
      var logged: [Int: ArraySlice<UInt8>] = [:]
      var loose: [[UInt8]] = []
      let limit = file.size / self.size + log.frames.count + 1
      for frame in log.frames where frame.bytes.count == self.size {
        if frame.isSound, frame.page <= limit {
          logged[frame.page] = frame.bytes
        } else {
          loose.append(Array(frame.bytes))
        }
      }
      self.logged = logged
      self.loose = loose
      self.count = max((file.size + self.size - 1) / self.size, logged.keys.max() ?? 0)
    }

    /// A page; what cannot be read of it is zero.
    func page(_ number: Int) -> [UInt8] {
      if let page = self.logged[number] { return Array(page) }
      let bytes = self.file.read(at: (number - 1) * self.size, count: self.size) ?? []
      return bytes + [UInt8](repeating: 0, count: self.size - bytes.count)
    }

    /// Whether bytes begin like a database. Another page in the place of the first one says nothing about sizes.
    private static func isHeader(_ bytes: [UInt8]) -> Bool {
      // A few bytes may be damaged.
      zip(bytes, "SQLite format 3\0".utf8).count(where: ==) >= 8
    }

    /// The size of a page that the header of a database names. Databases of this library have the usual one.
    static func size(_ header: [UInt8]) -> Int {
      guard header.count >= 18, Self.isHeader(header) else { return 4_096 }
      let size = Int(header[16]) << 8 | Int(header[17])
      let isUsual = size >= 512 && size & (size - 1) == 0
      return size == 1 ? 65_536 : isUsual ? size : 4_096
    }
  }
#endif
