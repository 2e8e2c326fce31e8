#if !SwiftOperationSQLite
  // Without this declaration the compiler reports an unknown type and does not name the missing trait.

  /// A storage in a SQLite database. Requires the trait `SwiftOperationSQLite`, and `import OperationSQLite`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationSQLite: .package(url: …, from: …, traits: [\"SwiftOperationSQLite\"])"
  )
  public enum SQLiteStorage {}
#endif
