#if !SwiftOperationCrypto
  // Without this declaration the compiler reports an unknown type and does not name the missing trait.

  /// A key that seals a storage. Requires the trait `SwiftOperationCrypto`, and `import OperationCrypto`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationCrypto: .package(url: …, from: …, traits: [\"SwiftOperationCrypto\"])"
  )
  public struct ChaChaPolyKey: Sendable {
    // Without it, the compiler says that there is no initializer, and not why.
    public init<Secret>(_ secret: Secret) throws(StorageError) {
      preconditionFailure("Unavailable.")
    }
  }
#endif
