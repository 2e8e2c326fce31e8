internal import OperationCore

/// What a journal does with a call while an earlier one of the same mutation has not been sent.
///
/// ```swift
/// let save = SaveNote(server: server)
///   .scope("notes")
///   .journaled(as: "save-note", policy: .merge(by: \.noteID) { old, new in old.merging(new) })
/// ```
///
/// An earlier call can be replaced as long as its body has not begun, also after a restart, and only if no call of
/// another mutation came after it in its scope: that one may build on it. The new call takes its place at the end of the
/// scope, with a key of its own, and both are stored in one step. The callers of the earlier call get the result of the
/// new one. Its optimistic update goes, and the new call shows the update of its merged arguments.
public struct JournalPolicy<Arguments: Sendable>: Sendable {
  struct Rule: Sendable {
    /// Identifies what a call is about, as an element of a path.
    let key: @Sendable (Arguments) -> OperationPath
    /// The arguments of one call in place of two; nil to make both.
    let merge: @Sendable (_ old: Arguments, _ new: Arguments) -> Arguments?
    /// Whether the call of two is based on what the earlier one is based on.
    let keepsBase: Bool
  }

  /// Nil if all calls are made.
  let rule: Rule?

  /// All calls are made.
  public static var keepAll: Self { Self(rule: nil) }

  /// A new call replaces an earlier one with the same key that has not been sent.
  ///
  /// - Parameter key: Returns what a call is about, such as the identifier of a note.
  /// - Returns: The policy.
  public static func replacePending(by key: @escaping @Sendable (Arguments) -> some Hashable & Sendable) -> Self {
    Self(rule: Rule(key: { OperationPath(elements: [key($0)]) }, merge: { _, new in new }, keepsBase: false))
  }

  /// A new call is merged with an earlier one with the same key that has not been sent.
  ///
  /// - Parameters:
  ///   - key: Returns what a call is about, such as the identifier of a note.
  ///   - merge: Returns the arguments of one call that does what both would do, or nil to make both. It may be called
  ///     more than once.
  /// - Returns: The policy.
  public static func merge(
    by key: @escaping @Sendable (Arguments) -> some Hashable & Sendable,
    _ merge: @escaping @Sendable (_ old: Arguments, _ new: Arguments) -> Arguments?
  ) -> Self {
    Self(rule: Rule(key: { OperationPath(elements: [key($0)]) }, merge: merge, keepsBase: true))
  }
}

extension JournalPolicy where Arguments: Identifiable, Arguments.ID: Sendable {
  /// A new call replaces an earlier one with the same identifier in its arguments that has not been sent.
  public static var replacePending: Self { .replacePending(by: \.id) }

  /// A new call is merged with an earlier one with the same identifier in its arguments that has not been sent.
  ///
  /// - Parameter merge: Returns the arguments of one call that does what both would do, or nil to make both.
  /// - Returns: The policy.
  public static func merge(_ merge: @escaping @Sendable (_ old: Arguments, _ new: Arguments) -> Arguments?) -> Self {
    .merge(by: \.id, merge)
  }
}
