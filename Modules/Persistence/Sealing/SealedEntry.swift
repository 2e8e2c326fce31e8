internal import OperationCore

/// The sealed form of an entry: a byte with its format, and then its key and its value as the sealing key returns them.
enum SealedEntry {
  private static let format: UInt8 = 1

  /// Why an entry does not open.
  enum Refusal: Error, CustomStringConvertible {
    case format
    case key(String)
    case place
    case sealing(any Error)

    var description: String {
      switch self {
      case .format: "it has a form that this version of the library does not know"
      case .key(let id): "it was sealed with the key \(id), which the storage was not given"
      case .place: "it was moved there from another place"
      case .sealing(let error): "its key does not open it: \(ShownText.whole(error))"
      }
    }
  }

  static func seal(_ entry: StorageEntry, _ member: SealingKeys.Member, at place: String) throws -> [UInt8] {
    let key = Array(entry.key.utf8)
    let length = withUnsafeBytes(of: UInt32(key.count).littleEndian) { Array($0) }
    return [self.format] + (try member.key.seal(length + key + entry.value, at: place))
  }

  static func open(_ bytes: [UInt8], _ member: SealingKeys.Member, at place: String) throws(Refusal) -> StorageEntry {
    guard bytes.first == self.format else { throw .format }
    let content: [UInt8]
    do { content = try member.key.open(Array(bytes.dropFirst()), at: place) } catch { throw .sealing(error) }
    guard content.count >= 4 else { throw .format }
    let length = content[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
    guard content.count - 4 >= length, let key = String(validating: content[4..<4 + length], as: UTF8.self) else {
      throw .format
    }
    // Also if the sealing key does not authenticate the place.
    guard (try? SealedPlace.isPlace(place, of: key, member)) == true else { throw .place }
    return StorageEntry(key: key, value: Array(content[(4 + length)...]))
  }
}
