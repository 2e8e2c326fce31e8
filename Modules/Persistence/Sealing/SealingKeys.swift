/// The keys of a ``SealedStorage``. The first one seals, and each of them opens.
struct SealingKeys: Sendable {
  /// A key with what identifies it in the storage.
  struct Member: Sendable {
    /// A hash of a text that is the same for all keys: it differs if the keys do, and tells nothing of them.
    let id: String
    let key: any SealingKey

    init(_ key: any SealingKey) throws(StorageError) {
      self.key = key
      self.id = try Self.tag(key.digest(of: "sealing key"), count: 12)
    }

    /// The text of a part of a key, in the place of that part.
    func tag(of text: some StringProtocol) throws(StorageError) -> String {
      try Self.tag(self.key.digest(of: "entry " + text), count: 22)
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The first digits of a digest, 6 bits in each.
    private static func tag(_ digest: [UInt8], count: Int) throws(StorageError) -> String {
      guard digest.count >= 16 else {
        throw StorageError(
          code: .sealingFailed,
          message: """
            `digest(of:)` of a sealing key has returned \(digest.count) bytes. Return 16 or more, so that different keys \
            have different places.
            """
        )
      }
      let text = (0..<count).map { index in
        let (byte, shift) = (index * 6 / 8, index * 6 % 8)
        let pair = UInt16(digest[byte]) << 8 | UInt16(byte + 1 < digest.count ? digest[byte + 1] : 0)
        return Self.digits[Int(pair >> UInt16(10 - shift)) & 63]
      }
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// The members, each of them once.
  let members: [Member]

  init(_ first: any SealingKey, previous: [any SealingKey]) throws(StorageError) {
    var members = [try Member(first)]
    for key in previous {
      let member = try Member(key)
      if !members.contains(where: { $0.id == member.id }) { members.append(member) }
    }
    self.members = members
  }

  /// The key that seals.
  var first: Member { self.members[0] }

  /// The place of the member with an identifier; nil if there is none. The lower, the newer.
  func rank(of id: some StringProtocol) -> Int? { self.members.firstIndex { $0.id == id } }
}
