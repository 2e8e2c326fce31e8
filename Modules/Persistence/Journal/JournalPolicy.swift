internal import OperationCore

/// The treatment of an earlier call of the same mutation that has not been sent, when a new call is made.
///
/// ```swift
/// let save = SaveNote(server: server)
///   .scope("notes")
///   .journaled(as: "save-note", policy: .merge(by: \.noteID) { old, new in old.merging(new) })
/// ```
///
/// An earlier call can be replaced if its body has not begun, also after a restart, and if no call of another mutation
/// came after it in its scope: such a call may build on it. The new call is placed at the end of the scope, with a key
/// of its own, and both changes are stored in one step. The callers of the earlier call get the result of the new call.
/// The optimistic update of the earlier call is removed, and the new call shows the update of its merged arguments.
public struct JournalPolicy<Arguments: Sendable>: Sendable {
  struct Rule: Sendable {
    /// Returns the subject of a call, as an element of a path.
    let key: @Sendable (Arguments) -> OperationPath
    /// Merges the arguments of two calls into the arguments of one; nil to make both calls.
    let merge: @Sendable (_ old: Arguments, _ new: Arguments) -> Arguments?
    /// Whether a merged call is based on the version of the earlier call.
    let keepsBase: Bool
  }

  /// Nil if all calls are made.
  let rule: Rule?

  /// All calls are made.
  public static var keepAll: Self { Self(rule: nil) }

  /// A new call replaces an earlier one with the same key that has not been sent.
  ///
  /// - Parameter key: Returns the subject of a call, such as the identifier of a note.
  /// - Returns: The policy.
  public static func replacePending(by key: @escaping @Sendable (Arguments) -> some Hashable & Sendable) -> Self {
    Self(rule: Rule(key: { OperationPath(elements: [key($0)]) }, merge: { _, new in new }, keepsBase: false))
  }

  /// A new call is merged with an earlier one with the same key that has not been sent.
  ///
  /// - Parameters:
  ///   - key: Returns the subject of a call, such as the identifier of a note.
  ///   - merge: Returns arguments for one call that has the effect of both calls, or nil to make both. It may be called
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
  /// - Parameter merge: Returns arguments for one call that has the effect of both calls, or nil to make both.
  /// - Returns: The policy.
  public static func merge(_ merge: @escaping @Sendable (_ old: Arguments, _ new: Arguments) -> Arguments?) -> Self {
    .merge(by: \.id, merge)
  }
}
