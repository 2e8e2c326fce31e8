/// The error of a call that is based on an outdated version: the server has changed the data since then.
///
/// ```swift
/// struct NoteConflict: MutationConflict {
///   let current: Note
/// }
/// ```
///
/// A server says so with the status 412 or 409. Throw it from the body of a mutation with
/// `.resolvesConflicts(of: NoteConflict.self)`.
public protocol MutationConflict<Current>: Error {
  /// The type of the data of the server.
  associatedtype Current: Codable & Sendable

  /// The present data of the server.
  var current: Current { get }
}
