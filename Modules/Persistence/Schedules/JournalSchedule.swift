internal import OperationCore
public import OperationFoundation

/// Work that a ``MutationJournal`` does at a time, or again and again.
///
/// ```swift
/// for schedule in journal.schedules { print(schedule.name, schedule.nextDate, schedule.waitsFor) }
/// ```
public struct JournalSchedule: Hashable, Sendable, Identifiable {
  /// What a schedule waits for.
  @nonexhaustive(warn)
  public enum Wait: String, Hashable, Sendable {
    /// Its next time.
    case time
    /// Its time has come, and no mutation is registered with its name in this process.
    case registration
    /// Its time has come, and the condition of the journal or of `.scheduled(onlyWhen:)` does not hold.
    case condition
    /// Its time has come, and its last call has not ended.
    case lastCall
    /// Its time has come, and its call is being stored, or the storage has failed.
    case storage
    /// The journal of this process makes no calls by itself before ``MutationJournal/resume()``.
    case resumption
  }

  /// What becomes of the times of recurring work that passed without a call.
  ///
  /// That happens when no program runs, while a condition does not hold, and while the call before has not ended.
  public struct MissedTimes: Hashable, Sendable {
    enum Kind: String, Sendable {
      case once
      case each
      case skip
    }

    let kind: Kind
    /// How late a call may begin; nil if it may be as late as it is.
    private let seconds: Double?

    init(kind: Kind, _ seconds: Double? = nil) {
      self.kind = kind
      self.seconds = seconds
    }

    var tolerance: Duration { .seconds(self.seconds ?? 60) }

    /// One call is made for all of them, as soon as possible.
    public static let once = Self(kind: .once)

    /// A call is made for each of them, one after the other, with a key of its own. Of more than a thousand missed times
    /// the first ones are skipped.
    public static let each = Self(kind: .each)

    /// They are skipped, and the next call is made at its time. A call may begin a minute late.
    public static let skip = Self.skip(after: .seconds(60))

    /// They are skipped, and the next call is made at its time.
    ///
    /// - Parameter tolerance: How late a call may begin, by the clock of the client. A negative one is reported and counts
    ///   as zero.
    /// - Returns: The policy.
    public static func skip(after tolerance: Duration) -> Self {
      Self(kind: .skip, tolerance.reportedIfNegative(in: "skip(after:)").clampedForClock.seconds)
    }
  }

  /// What happens if something is scheduled with the name already.
  public struct ExistingPolicy: Hashable, Sendable {
    enum Kind: Sendable {
      case keep
      case update
      case replace
    }

    let kind: Kind

    /// It stays as it is.
    public static let keep = Self(kind: .keep)

    /// It keeps its times, and gets the new mutation, arguments and policy for missed times. If the interval is another
    /// one, or a first time that has not come, it is replaced.
    public static let update = Self(kind: .update)

    /// The new one takes its position, with times of its own.
    public static let replace = Self(kind: .replace)
  }

  /// The name that makes it unique in its storage.
  public let name: String

  /// The identifier of its entry in ``MutationJournal/entries``, with which the keys of its calls begin.
  public let entryID: JournalEntry.ID

  /// The name that its mutation is journaled as.
  public let mutation: String

  /// The scope of the mutation when it was scheduled, its elements with slashes between them; nil without one.
  public let scope: String?

  /// The time from one call to the next; nil for a single call.
  public let interval: Duration?

  /// The time of the next call, by the clock of the client.
  public let nextDate: Date

  /// What becomes of missed times.
  public let missedTimes: MissedTimes

  /// The arguments of its calls as the mutation's coder has encoded them, JSON by default.
  public let arguments: [UInt8]

  /// What it waits for in this process.
  public let waitsFor: Wait

  /// The name.
  public var id: String { self.name }
}

extension JournalSchedule {
  init(_ record: ScheduleRecord, waitsFor wait: Wait) {
    self.init(
      name: record.name,
      entryID: record.id,
      mutation: record.call,
      scope: record.scope.map { StorageKey.readablePath($0) },
      interval: record.interval.map { .seconds($0) },
      nextDate: Date(timeIntervalSinceReferenceDate: record.time(of: record.next)),
      missedTimes: record.missedTimes,
      arguments: record.storedArguments.bytes,
      waitsFor: wait
    )
  }
}

extension JournalSchedule: CustomStringConvertible {
  /// What it does, when, and what it waits for, in one line, without the arguments.
  public var description: String {
    let every = self.interval.map { "every \($0.roundedText), " } ?? ""
    return "\(self.name): \(self.mutation), \(every)next \(self.nextDate), waits for \(self.waitsFor.text)"
  }
}

extension JournalSchedule.Wait {
  /// What it waits for, to follow "waits for".
  var text: String {
    switch self {
    case .time: "its time"
    case .registration: "a mutation to be registered with its name"
    case .condition: "its condition"
    case .lastCall: "the end of its last call"
    case .storage: "the storage"
    case .resumption: "`resume()`"
    }
  }
}
