public import OperationFoundation

/// A call of a mutation that is in conflict with the data of the server.
public struct ConflictedCall<Arguments: Sendable>: Sendable, Identifiable {
  /// The identifier of its entry in the journal; empty for a call without a journal.
  public let id: String

  /// The arguments of the call.
  public let arguments: Arguments

  /// The version that the call is based on; nil if its caller has named none.
  public let baseVersion: String?

  /// When the call was accepted, by the clock of its context; nil for a call without a journal.
  public let acceptedAt: Date?

  /// How many times the arguments of the call were replaced after a conflict.
  public let retryCount: Int
}

/// A call that is kept with the data of the server until the user decides.
///
/// It comes from ``MutationJournal/conflicts(of:as:)``.
public struct JournalConflict<Arguments: Codable & Sendable, Current: Codable & Sendable>: Sendable, Identifiable {
  /// The call.
  public let call: ConflictedCall<Arguments>

  /// The data that the server had when the conflict was found.
  public let current: Current

  let stored: StoredArguments<Arguments>
  /// Whether a call with these arguments may be stored.
  let mayStore: @Sendable (Arguments) -> Bool

  /// The identifier of the entry in the journal.
  public var id: String { self.call.id }
}
