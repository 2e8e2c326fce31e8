import Foundation
import Operation
import OperationHTTP

/// The operations of a library, by requests of OperationHTTP: which client sends them is a matter of the context.
struct Library: Sendable {
  let address: URL

  /// The book with an identifier, or nil where the server has none: a 404 is an answer here, and no failure.
  ///
  /// It is fresh for the time that the server names.
  func book(_ id: Int) -> some QueryRequest<Book?, any Error> & Sendable {
    HTTPQuery(self.address.appending(path: "books/\(id)"), path: ["books", id]).decodeIfFound(Book.self)
  }

  /// Gives a book another title. The copy that the client has is then out of date.
  func renaming(_ id: Int) -> some MutationRequest<String, Book, any Error> & Sendable {
    MutationOperation("books", id, "rename") { (title: String, context) in
      let address = self.address.appending(path: "books/\(id)")
      let request = try OperationHTTPRequest(address, method: "PUT", json: Book(id: id, title: title))
      return try await context.send(request).decoded(as: Book.self)
    }
    .invalidates(matching: ["books", id])
  }
}
