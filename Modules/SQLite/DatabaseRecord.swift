#if SwiftOperationSQLite
  /// A row as it is stored in a page. See <https://www.sqlite.org/fileformat2.html#record_format>.
  struct DatabaseRecord {
    enum Column {
      case null
      case number(Int64)
      case text(String)
      case bytes([UInt8])
    }

    /// Zero in an index.
    let id: Int64
    var columns: [Column] = []
    /// Where the row ends in its page.
    let end: Int

    /// Reads the row at a place; nil if there is none.
    ///
    /// - Parameters:
    ///   - page: The bytes of a page.
    ///   - place: Where the cell begins, in an inner page of an index behind its pointer.
    ///   - isTable: Whether the cell is one of a table, not of an index.
    ///   - pages: The pages on which a long row continues.
    init?(_ page: [UInt8], at place: Int, isTable: Bool, in pages: DatabasePages) {
      var place = place
      let usable = page.count - pages.reserved
      guard let length = Self.variable(page, &place, usable), length >= 2, length <= pages.count * pages.size else {
        return nil
      }
      var id: Int64 = 0
      if isTable {
        guard let number = Self.variable(page, &place, usable) else { return nil }
        id = Int64(number)
      }
      self.id = id
      let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
      let least = (usable - 12) * 32 / 255 - 23
      let kept = least + (length - least) % (usable - 4)
      let local = length <= most ? length : kept <= most ? kept : least
      let isLong = local < length
      self.end = place + local + (isLong ? 4 : 0)
      guard self.end <= usable else { return nil }
      // The columns are looked at first: most places of a damaged page are the beginning of no row.
      guard let kinds = Self.kinds(page, at: place, local: local, length: length) else { return nil }
      var payload = Array(page[place..<place + local])
      if isLong { Self.append(to: &payload, length, after: Self.number(page, place + local), pages) }

      var start = kinds.end - place
      for kind in kinds.kinds {
        let size = Self.size(ofKind: kind)
        let rest = payload[min(start, payload.count)..<min(start + size, payload.count)]
        start += size
        guard let column = Self.column(kind, rest) else { return nil }
        self.columns.append(column)
      }
    }

    /// The kinds of the columns, which are one to five as in the tables of this library.
    private static func kinds(_ page: [UInt8], at place: Int, local: Int, length: Int) -> (kinds: [Int], end: Int)? {
      var position = place
      guard let size = self.variable(page, &position, place + local), size <= 60, size <= local else { return nil }
      var kinds: [Int] = []
      var total = size
      while position < place + size {
        guard kinds.count < 5, let kind = self.variable(page, &position, place + size), kind != 10, kind != 11 else {
          return nil
        }
        kinds.append(kind)
        total += self.size(ofKind: kind)
        if total > length { return nil }
      }
      return total == length && !kinds.isEmpty ? (kinds, place + size) : nil
    }

    /// Appends the pages on which a long row continues, as far as they are there.
    private static func append(to payload: inout [UInt8], _ length: Int, after first: Int, _ pages: DatabasePages) {
      var next = first
      let usable = pages.size - pages.reserved
      while payload.count < length, next > 0, next <= pages.count {
        let page = pages.page(next)
        payload += page[4..<min(usable, 4 + length - payload.count)]
        next = self.number(page, 0)
      }
    }

    private static func size(ofKind kind: Int) -> Int {
      switch kind {
      case 0...4: kind
      case 5: 6
      case 6, 7: 8
      case 8, 9: 0
      default: (kind - 12) / 2
      }
    }

    private static func column(_ kind: Int, _ bytes: ArraySlice<UInt8>) -> Column? {
      switch kind {
      case 0, 7: return .null
      case 8, 9: return .number(Int64(kind - 8))
      case 1...6:
        guard let first = bytes.first else { return nil }
        return .number(bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) })
      case _ where kind % 2 == 0: return .bytes(Array(bytes))
      // A text of SQLite ends at its first null character, which no key has that is sound.
      default: return .text(String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: "?") : $0 }, as: UTF8.self))
      }
    }

    static func number(_ bytes: [UInt8], _ place: Int) -> Int {
      bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// A number with a variable length, up to 2⁵⁶ as larger ones do not occur in sound files.
    private static func variable(_ bytes: [UInt8], _ place: inout Int, _ limit: Int) -> Int? {
      var number = 0
      for _ in 0..<8 where place < limit {
        let byte = bytes[place]
        place += 1
        number = number << 7 | Int(byte & 0x7F)
        if byte < 0x80 { return number }
      }
      return nil
    }
  }
#endif
