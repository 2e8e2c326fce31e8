import Crypto
import Foundation
import OperationCrypto
import OperationPersistence

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file with the secrets of a database, the newest first. No other user may read it.
///
/// A copy or a backup of the database alone cannot be read. Everybody who can read this file can read the notes. So a program
/// on a real device keeps its secrets in the key chain of the system instead.
struct SecretFile {
  private struct Secret: Codable {
    /// The version of the program that has made the secret.
    let version: Int
    let bytes: Data
  }

  private let path: String
  private var secrets: [Secret] = []

  /// Reads the file. If it has no secret of this version of the program, adds one.
  init(_ path: String, version: Int) throws {
    self.path = path
    if let data = FileManager.default.contents(atPath: path) {
      self.secrets = try JSONDecoder().decode([Secret].self, from: data)
    }
    if let newest = self.secrets.first, newest.version >= version { return }
    let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
    self.secrets.insert(Secret(version: version, bytes: bytes), at: 0)
    try self.write()
  }

  var keys: [ChaChaPolyKey] {
    get throws { try self.secrets.map { try ChaChaPolyKey(SymmetricKey(data: $0.bytes)) } }
  }

  /// Forgets the secrets of earlier versions.
  mutating func keepNewest() throws {
    self.secrets.removeLast(self.secrets.count - 1)
    try self.write()
  }

  /// Replaces the file. When this returns, the secrets are on the disk, and may be used.
  private func write() throws {
    let data = try JSONEncoder().encode(self.secrets)
    let descriptor = open(self.path + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try file.write(contentsOf: data)
    try file.synchronize()
    guard rename(self.path + ".new", self.path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }
}
