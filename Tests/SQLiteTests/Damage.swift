#if SwiftOperationSQLite && os(Linux)
  import Foundation

  /// A damage of one of the files of a database.
  struct Damage: CustomStringConvertible {
    enum Change {
      case flip(bit: Int)
      case zero(Range<Int>)
      case tear(page: Int)
      case cut(Int)
      case swap(Int, Int)
    }

    let file: String
    let change: Change

    init(of files: [String: Data], using random: inout SeededGenerator) {
      let names = files.keys.filter { !$0.hasSuffix("-shm") }.sorted()
      self.file = names.last ?? ""
      let size = files[self.file]?.count ?? 0
      let pages = max(1, size / 4_096)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...4: self.change = .flip(bit: .random(in: 0..<size * 8, using: &random))
      case 5, 6:
        let start = Int.random(in: 0..<size, using: &random)
        self.change = .zero(start..<min(size, start + .random(in: 1...6_000, using: &random)))
      case 7: self.change = .tear(page: .random(in: 0..<pages, using: &random))
      case 8: self.change = .cut(.random(in: 1..<size, using: &random))
      default:
        self.change = .swap(.random(in: 0..<pages, using: &random), .random(in: 0..<pages, using: &random))
      }
    }

    var description: String { "\(self.file) \(self.change)" }

    /// The damaged bytes of the file, which may have become shorter by another damage.
    func applied(to data: Data) -> Data {
      var bytes = [UInt8](data)
      switch self.change {
      case .flip(let bit) where bit / 8 < bytes.count: bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      case .flip: break
      case .zero(let range): for place in range.clamped(to: bytes.indices) { bytes[place] = 0 }
      case .tear(let page):
        for place in (page * 4_096 + 2_048..<page * 4_096 + 4_096).clamped(to: bytes.indices) { bytes[place] = 0 }
      case .cut(let count): bytes = Array(bytes.prefix(count))
      case .swap(let first, let second):
        for place in 0..<4_096 where (max(first, second) * 4_096 + place) < bytes.count {
          bytes.swapAt(first * 4_096 + place, second * 4_096 + place)
        }
      }
      return Data(bytes)
    }
  }
#endif
