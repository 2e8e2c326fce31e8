#if !SwiftOperationSQLite
  // Without this declaration the compiler reports an unknown type and does not name the missing trait.

  /// A storage in a SQLite database. Requires the trait `SwiftOperationSQLite`, and `import OperationSQLite`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationSQLite: .package(url: …, from: …, traits: [\"SwiftOperationSQLite\"])"
  )
  public struct SQLiteStorage: Sendable {
    // Without it, the compiler says that there is no initializer, and not why.
    public init(path: String, busyTimeout: Duration = .seconds(5)) throws(StorageError) {
      preconditionFailure("Unavailable.")
    }
  }
#endif
