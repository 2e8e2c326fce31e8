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
      switch Int.random(in: 0..<10, using: &random) {
      case 0...4: self.change = .flip(bit: .random(in: 0..<size * 8, using: &random))
      case 5, 6:
        let start = Int.random(in: 0..<size, using: &random)
        self.change = .zero(start..<min(size, start + .random(in: 1...6_000, using: &random)))
      case 7: self.change = .tear(page: .random(in: 0..<size / 4_096, using: &random))
      case 8: self.change = .cut(.random(in: 1..<size, using: &random))
      default:
        self.change = .swap(
          .random(in: 0..<size / 4_096, using: &random),
          .random(in: 0..<size / 4_096, using: &random)
        )
      }
    }

    var description: String { "\(self.file) \(self.change)" }

    func applied(to data: Data) -> Data {
      var bytes = [UInt8](data)
      switch self.change {
      case .flip(let bit): bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      case .zero(let range): for place in range { bytes[place] = 0 }
      case .tear(let page): for place in page * 4_096 + 2_048..<page * 4_096 + 4_096 { bytes[place] = 0 }
      case .cut(let count): bytes.removeLast(bytes.count - count)
      case .swap(let first, let second):
        for place in 0..<4_096 { bytes.swapAt(first * 4_096 + place, second * 4_096 + place) }
      }
      return Data(bytes)
    }
  }
#endif
