internal import OperationCore
public import OperationFoundation

/// The error of a call that a journal did not make.
public struct JournalError: Error, Sendable, CustomStringConvertible {
  /// The kind of a ``JournalError``.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// The call could not be stored, so it was not made.
    public static let notAccepted = Code(description: "notAccepted")

    /// The arguments that a conflict has given the call could not be stored, so it was not made with them. Its entry stays in the
    /// journal, and the call is made again.
    public static let notStored = Code(description: "notStored")

    /// The call was cancelled before its turn came. Its entry stays in the journal.
    public static let cancelled = Code(description: "cancelled")

    /// The program is about to end, and the turn of the call had not come, or the storage was closed before. Its entry stays in the
    /// journal.
    public static let stopped = Code(description: "stopped")

    /// The entry was removed before the turn of the call came.
    public static let removed = Code(description: "removed")

    /// Another process has made the call, because this process was suspended for too long, or has removed it, for
    /// example because its user has signed out. The result is not known here.
    public static let takenOver = Code(description: "takenOver")

    /// The time of the call has passed: see `expires(after:)`. Its entry stays in the journal.
    public static let expired = Code(description: "expired")

    /// A later call was made in place of the call, and its result has another type.
    public static let replaced = Code(description: "replaced")

    /// The data that the call would change was changed meanwhile, and the user decides. The entry stays in the journal.
    public static let conflicted = Code(description: "conflicted")

    /// The data that the call would change was changed meanwhile, and stays as it is. The entry was removed.
    public static let discarded = Code(description: "discarded")

    /// The key that the caller has chosen belongs to a call that has not ended. The new call was not made.
    public static let duplicateKey = Code(description: "duplicateKey")
  }

  /// The kind of the error.
  public let code: Code

  /// A description of the error and of its remedy.
  public let message: String

  /// The error of the storage or of the encoder, or the error of a conflict; nil if there is none.
  public let cause: (any Error)?

  /// Whether the description has the cause. The description of an encoder's error has the arguments.
  var showsCause = true

  public var description: String {
    guard self.showsCause, let cause else { return "\(self.code): \(self.message)" }
    return "\(self.code): \(self.message) (\(ShownText.whole(cause)))"
  }
}

extension JournalError: CustomReflectable {
  /// The properties, without the error of an encoder, whose description has the arguments.
  public var customMirror: Mirror {
    let (code, message) = ((label: "code", value: self.code as Any), (label: "message", value: self.message as Any))
    guard self.showsCause else { return Mirror(self, children: [code, message], displayStyle: .struct) }
    return Mirror(self, children: [code, message, (label: "cause", value: self.cause as Any)], displayStyle: .struct)
  }
}

extension JournalError {
  /// Creates an error, for tests of what handles it.
  ///
  /// - Parameters:
  ///   - code: The kind of the error.
  ///   - message: A description of the error and of its remedy.
  ///   - cause: The error of the storage or of the encoder, or the error of a conflict; nil if there is none.
  public init(code: Code, message: String, cause: (any Error)? = nil) {
    self.init(code: code, message: message, cause: cause, showsCause: true)
  }

  static func notAccepted(_ name: String, _ cause: any Error) -> Self {
    let isFull = (cause as? StorageError)?.code == .full
    let remedy = isFull ? "Make room in the storage, and call again." : "See the cause, and call again."
    return Self(
      code: .notAccepted,
      message: "The call of \"\(name)\" could not be stored, so it was not made. \(remedy)",
      cause: cause
    )
  }

  /// The error of a call whose arguments a conflict has replaced.
  static func notStored(_ name: String, _ cause: any Error) -> Self {
    Self(
      code: .notStored,
      message: """
        The new arguments of the call of "\(name)" could not be stored after a conflict, so it was not made with them. It \
        stays in the journal, and is made again: see the cause.
        """,
      cause: cause
    )
  }

  /// The error of a call whose attempt was not counted, because the storage was closed.
  static func closed(_ name: String, _ cause: any Error) -> Self {
    Self(
      code: .stopped,
      message: """
        The call of "\(name)" was not made, because the storage of its journal was closed before. It stays in the journal, and is \
        made after the next start.
        """,
      cause: cause
    )
  }

  /// The error of arguments for an open conflict that may not be stored.
  static func excluded(_ id: JournalEntry.ID) -> Self {
    Self(
      code: .notStored,
      message: """
        The new arguments of the call with the key \(id) may not be stored, by the `excluding:` of its mutation, so its conflict \
        stays open. Choose other arguments, or remove the call with `remove(_:)` and make a new one.
        """,
      cause: nil
    )
  }

  static func notEncoded(_ name: String, _ cause: any Error) -> Self {
    Self(
      code: .notAccepted,
      message: """
        The call of "\(name)" could not be stored, so it was not made: its arguments cannot be encoded \
        (\(ShownText.ofEncoding(cause))). Another call with them fails, too: change how they encode themselves, or give \
        the mutation another `coder:`.
        """,
      cause: cause,
      showsCause: false
    )
  }

  static func duplicateKey(_ key: String, _ name: String) -> Self {
    Self(
      code: .duplicateKey,
      message: """
        The call of "\(name)" was not made, because a call with the key \(key) has not ended. Choose another \
        `operationIdempotencyKey`, or remove that call with `remove(_:)`.
        """,
      cause: nil
    )
  }

  static func conflicted(_ name: String, _ cause: any Error) -> Self {
    Self(
      code: .conflicted,
      message: """
        What the call of "\(name)" would change was changed meanwhile. It stays in the journal until `resolve(_:with:)`, \
        `retry(_:)` or `remove(_:)`.
        """,
      cause: cause
    )
  }

  static func discarded(_ name: String, _ cause: any Error) -> Self {
    Self(
      code: .discarded,
      message: "What the call of \"\(name)\" would change was changed meanwhile, and the call was discarded.",
      cause: cause
    )
  }

  static func ended(_ turn: JournalTurn, _ name: String) -> Self {
    switch turn {
    case .removed:
      Self(code: .removed, message: "The call of \"\(name)\" was removed from the journal before its turn.", cause: nil)
    case .takenOver:
      Self(
        code: .takenOver,
        message: """
          The call of "\(name)" was made by another process, which took this one for ended, or was removed there. Whether \
          it was made is not known here.
          """,
        cause: nil
      )
    case .expired:
      Self(
        code: .expired,
        message: """
          The call of "\(name)" was not made, because its time has passed. It stays in the journal; `retry(_:)` gives it \
          the same time again.
          """,
        cause: nil
      )
    case .replaced:
      Self(
        code: .replaced,
        message: "A later call of \"\(name)\" was made in place of the call, and its result has another type.",
        cause: nil
      )
    case .stopped:
      Self(
        code: .stopped,
        message: """
          The call of "\(name)" was not made, because the program is about to end and the call waits for an earlier one of \
          its scope that has no caller, or for another process. It stays in the journal, and is made after the next start.
          """,
        cause: nil
      )
    case .granted, .cancelled:
      Self(
        code: .cancelled,
        message:
          "The call of \"\(name)\" was cancelled before its turn. It stays in the journal; `remove(_:)` removes it.",
        cause: nil
      )
    }
  }
}

extension JournalError: LocalizedError {
  public var errorDescription: String? { self.description }
}
