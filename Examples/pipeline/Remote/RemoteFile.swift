import Foundation

/// A file that the server offers.
struct RemoteFile: Codable, Hashable, Sendable {
  let name: String
  let checksum: UInt32
}

/// CRC-32 (ISO 3309), enough to notice a torn download.
enum Checksum {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }

  static func of(_ data: Data) -> UInt32 {
    ~data.reduce(~0) { Self.table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
  }
}
