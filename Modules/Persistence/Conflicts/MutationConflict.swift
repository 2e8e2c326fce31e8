/// An error which says that what a call would change was changed since the version that the call is based on.
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
  /// What the server has.
  associatedtype Current: Codable & Sendable

  /// What the server has now, in place of what the call is based on.
  var current: Current { get }
}
