/// Seals the entries of a ``SealedStorage``, and opens them.
///
/// `OperationCrypto` has one for ChaCha20-Poly1305. Another one calls a library, or a chip that keeps the secret:
///
/// ```swift
/// struct VaultKey: SealingKey {
///   let vault: Vault
///
///   func seal(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
///     try self.vault.encrypt(bytes, authenticating: place)
///   }
///
///   func open(_ bytes: [UInt8], at place: String) throws -> [UInt8] {
///     try self.vault.decrypt(bytes, authenticating: place)
///   }
///
///   func digest(of text: String) -> [UInt8] { self.vault.authenticationCode(of: text) }
/// }
/// ```
///
/// Its functions are called in the tasks that read and write, concurrently.
public protocol SealingKey: Sendable {
  /// Seals bytes, so that only this key opens them, and only at this place.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of an entry with its key; never empty.
  ///   - place: Where they are stored. Authenticate it with the bytes (as associated data), so that they do not open
  ///     elsewhere. Each place may have a key of its own, derived from its text.
  /// - Returns: The sealed bytes, with what ``open(_:at:)`` needs besides the key, such as a nonce.
  /// - Throws: Any error. Nothing is stored then.
  func seal(_ bytes: [UInt8], at place: String) throws -> [UInt8]

  /// Opens what ``seal(_:at:)`` has returned for the same place.
  ///
  /// - Parameters:
  ///   - bytes: The sealed bytes, which may have been changed.
  ///   - place: Where they are stored.
  /// - Returns: The bytes that were sealed.
  /// - Throws: Any error if they were sealed with another key or for another place, or changed. They are then kept.
  func open(_ bytes: [UInt8], at place: String) throws -> [UInt8]

  /// A keyed hash, such as HMAC: entries are found by it without the texts of their keys.
  ///
  /// - Parameter text: A part of a key.
  /// - Returns: At least 16 bytes: the same for the same text in each process, which cannot be computed without the key.
  func digest(of text: String) -> [UInt8]
}
