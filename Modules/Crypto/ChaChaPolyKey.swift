#if SwiftOperationCrypto
  public import Crypto
  internal import OperationFoundation
  public import OperationPersistence

  /// A key that seals a storage with ChaCha20-Poly1305 (RFC 8439).
  ///
  /// ```swift
  /// let key = try ChaChaPolyKey(SymmetricKey(data: secret))
  /// let storage = SealedStorage(try SQLiteStorage(path: path), key: key)
  /// ```
  ///
  /// From the secret, HKDF (RFC 5869) with SHA-256 derives a key for each place of the storage, whose text is authenticated
  /// as well, and another one for the hashes of the texts of keys. The secret itself seals nothing. Each time something is
  /// sealed it gets a new random nonce.
  public struct ChaChaPolyKey: SealingKey {
    /// What HKDF has extracted from the secret.
    private let root: SymmetricKey
    private let digestKey: SymmetricKey

    /// Derives a key.
    ///
    /// Keep the secret where the system protects it, such as in a key chain, and not beside the storage.
    ///
    /// - Parameter secret: At least 256 random bits, such as `SymmetricKey(size: .bits256)`. A password is none.
    /// - Throws: A `StorageError` with the code `sealingFailed` if there are fewer bits.
    public init(_ secret: SymmetricKey) throws(StorageError) {
      guard secret.bitCount >= 256 else {
        throw StorageError(
          code: .sealingFailed,
          message: "A secret of \(secret.bitCount) bits seals nothing safely. Pass 256 random bits or more."
        )
      }
      let root = HKDF<SHA256>.extract(inputKeyMaterial: secret, salt: Array("swift-operation sealed storage 1".utf8))
      self.root = SymmetricKey(data: root)
      self.digestKey = Self.derive("digest", from: self.root)
    }

    public func seal(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
      let key = Self.derive("entry " + place, from: self.root)
      return Array(try ChaChaPoly.seal(bytes, using: key, authenticating: Array(place.utf8)).combined)
    }

    public func open(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
      let box = try ChaChaPoly.SealedBox(combined: bytes)
      let key = Self.derive("entry " + place, from: self.root)
      return Array(try ChaChaPoly.open(box, using: key, authenticating: Array(place.utf8)))
    }

    public func digest(of text: String) -> [UInt8] {
      Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: self.digestKey))
    }

    private static func derive(_ purpose: String, from root: SymmetricKey) -> SymmetricKey {
      HKDF<SHA256>.expand(pseudoRandomKey: root, info: Array(purpose.utf8), outputByteCount: 32)
    }
  }
#endif
