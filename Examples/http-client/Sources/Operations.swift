import Operation

extension OperationContext {
  /// The server that operations use: an entry of the client's context, so that tests can set another one.
  var library: Library? {
    get { self[LibraryKey.self] }
    set { self[LibraryKey.self] = newValue }
  }

  private enum LibraryKey: Key {
    static let defaultValue: Library? = nil
  }
}

/// The client's context has no ``OperationContext/library``.
struct NoLibrary: Error {}

extension Book {
  /// The book with an identifier. Its value is fresh for a minute.
  static func query(_ id: Int) -> some QueryRequest<Book?, any Error> {
    QueryOperation("books", id) { context in
      guard let library = context.library else { throw NoLibrary() }
      return try await library.book(id)
    }
    .stale(after: .seconds(60))
  }

  /// Gives a book another title. The lists and books that the client has are then out of date.
  static func renaming(_ id: Int) -> some MutationRequest<String, Book, any Error> {
    MutationOperation("books", id, "rename") { (title: String, context) in
      guard let library = context.library else { throw NoLibrary() }
      return try await library.rename(id, to: title)
    }
    .invalidates(matching: ["books", id])
  }
}
