internal import OperationCore
public import OperationFoundation

/// A call in a ``MutationJournal`` that has not ended.
public struct JournalEntry: Hashable, Sendable, Identifiable {
  /// The status of an entry.
  @nonexhaustive(warn)
  public enum Status: String, Hashable, Sendable {
    /// It waits for its turn in its scope, for ``MutationJournal/resume()``, or until its name is registered.
    case waiting
    /// It waits for an earlier call of its scope: see ``JournalEntry/blockedBy``.
    ///
    /// That call has failed and is made again by ``MutationJournal/resume()``, or it waits for the user.
    case blocked
    /// Its call is being made.
    case running
    /// It is a dead letter: not made again until ``MutationJournal/retry(_:)``.
    ///
    /// Later entries of its scope wait for it, unless its mutation says otherwise: see `deadLetters(_:)`.
    case deadLetter
    /// Its time has passed: see `expires(after:)`. It is not made before ``MutationJournal/retry(_:)``.
    case expired
    /// Its data was changed meanwhile: see `resolvesConflicts(of:_:)`.
    ///
    /// It is not made before ``MutationJournal/resolve(_:with:)`` or ``MutationJournal/retry(_:)``.
    case conflicted
    /// It is scheduled, and accepted at ``JournalEntry/dueAt``: see ``MutationJournal/schedules``.
    case scheduled
    /// It cannot be read. It is kept as it is.
    case unreadable
  }

  /// The idempotency key of the call; the storage key if the entry cannot be read or an earlier one has the same key.
  ///
  /// Of recurring work that is scheduled: what the keys of its calls begin with.
  public let id: String

  /// The name that the mutation is journaled as; empty if the entry cannot be read.
  public let name: String

  /// The scope of the mutation, its elements with slashes between them; nil without one.
  ///
  /// It has what is marked as ``/OperationCore/OperationSecret``, too. ``description`` leaves it out.
  public let scope: String?

  /// The same for a person: of an element of a type that the library does not know, the name of the type.
  let shownScope: String?

  /// When the call was accepted or scheduled, by the clock of its context; nil if the entry cannot be read.
  public let acceptedAt: Date?

  /// How many times the body of the mutation has begun for the call, including earlier starts of the program.
  public let attempts: Int

  /// The status of the entry.
  public let status: Status

  /// The arguments of the call as its coder has encoded them, JSON by default; empty if the entry cannot be read.
  public let arguments: [UInt8]

  /// The last failure since the program was started, as text; nil if there was none.
  public let lastFailure: String?

  /// The entry of its scope that it waits for, which has failed or waits for the user; nil unless it is blocked.
  public let blockedBy: ID?

  /// Until when the lease of another process keeps this one from making the call, by the clock of the client, unless that
  /// process renews or releases it before; nil if none does.
  ///
  /// A process that was killed leaves its lease behind, so the next start of the program waits until then:
  /// `leaseDuration` at most. For storages without leases it is nil.
  public let leaseEndsAt: Date?

  /// The name of the schedule that it belongs to; nil for a call of a caller.
  public let schedule: String?

  /// The time that it is made for, if it is scheduled or was; nil for a call of a caller.
  public let dueAt: Date?
}

extension JournalEntry: CustomStringConvertible {
  /// All facts in one line but the arguments, of which it has the size: nothing is known of secrets in them.
  ///
  /// Of the scope it has strings, numbers and other values of types that the library knows.
  public var description: String {
    guard self.status != .unreadable else { return "JournalEntry(unreadable, \(self.id))" }
    let facts: [String?] = [
      "\(self.name), \(self.status.rawValue)",
      self.shownScope.map { "scope \($0)" },
      self.attempts == 1 ? "1 attempt" : "\(self.attempts) attempts",
      self.acceptedAt.map { "\(self.status == .scheduled ? "scheduled" : "accepted") \($0)" },
      self.schedule.map { "of the schedule \($0)" },
      self.dueAt.map { "due \($0)" },
      "\(ShownText.count(self.arguments.count, "byte")) of arguments",
      self.lastFailure.map { "failure \($0)" },
      self.blockedBy.map { "behind \($0)" },
      self.leaseEndsAt.map { "waiting for the lease of another process, until \($0) at most unless it renews it" },
      "key \(self.id)",
    ]
    return "JournalEntry(\(facts.compactMap(\.self).joined(separator: ", ")))"
  }
}
