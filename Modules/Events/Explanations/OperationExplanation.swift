public import OperationCore
public import OperationFoundation

/// What a store does and why, for a person who asks: see ``OperationCore/OperationStore/explain()``.
///
/// ```swift
/// print(client.explain(["posts", 1]))
/// // GetPost at ["posts", 1]
/// // It has a value (Post), set 12 s ago.
/// // It is fresh for 48 s more.
/// // One subscriber keeps it: PostView.
/// // A run is under way: started 3 s ago by polling every 1 min; attempt 2 of 4 begins in 1.2 s, because the server
/// // asked for it; attempt 1 failed: Busy().
/// ```
///
/// The description is for people, and its wording may change. The parts are for code. Values are shown only by their
/// types and sizes.
public struct OperationExplanation: Sendable {
  /// The ``/OperationCore/OperationRequest/operationName`` of the operation; nil if there is no store.
  public var operationName: String?

  /// The path of the operation, as text.
  public var path: String

  /// The type of the operation without its modifiers; nil if there is no store.
  public var kind: String?

  /// The modifiers as they are written, in the order in which they act on a call: outermost first.
  ///
  /// In release builds, a modifier that only edits the context is written `.context { … }`.
  public var modifiers: [String] = []

  /// The date of the explanation by the clock of the store; nil if there is no store.
  public var date: Date?

  /// Whether a client had the store and has it no longer.
  public var isRemoved = false

  /// The value of the store without optimistic updates; nil without one.
  public var value: Value?

  /// The last error; nil if a value was set after it.
  public var failure: Failure?

  /// Whether the value of an earlier store is still being read from a storage.
  public var isRestoring = false

  /// The number of optimistic updates on top of the value.
  public var layerCount = 0

  /// The names of the operations that have made these optimistic updates, from the lowest update up. Nil stands for an
  /// unknown one.
  public var layerAuthors: [String?] = []

  /// Whether the value is stale, and why; nil if there is no store.
  public var staleness: OperationStaleness?

  /// The subscribers, by their names, in the order in which they came. Nil stands for one without a name.
  public var subscribers: [String?] = []

  /// Why the operation does not run by itself, in a sentence; nil if it does.
  public var automaticRunObstacle: String?

  /// The runs under way, in the order in which they have begun.
  public var runs: [Run] = []

  /// The runs that have ended lately, newest first.
  ///
  /// The store remembers them from its first explanation on.
  public var endedRuns: [EndedRun] = []

  /// The notices that modifiers have sent lately, newest first. The store remembers them as long as ended runs.
  public var notices: [Notice] = []

  /// What happens next by itself, soonest first.
  public var plans: [Plan] = []

  /// Facts from modifiers and modules, such as the sources of a derived query.
  public var sections: [Section] = []

  /// The number of stores at longer paths, if there is no store at this one.
  public var storesBelow = 0
}

extension OperationExplanation {
  /// The value of a store.
  public struct Value: Hashable, Sendable {
    /// The type and the size of the value; nil for a value that is nil.
    public let typeAndSize: String?
    /// When it was last set; nil for the value that the store began with.
    public let date: Date?
    /// The time since then; nil for the value that the store began with.
    public let age: Duration?
    /// The origin of the value in a sentence, if it is a fallback or was restored; nil for a usual value.
    public var origin: String?
  }

  /// The last error of a store.
  public struct Failure: Hashable, Sendable {
    /// The text of the error, or its type if it is an ``/OperationCore/OperationSecret``.
    public let text: String
    /// The time since it was set.
    public let age: Duration
  }

  /// A run under way.
  public struct Run: Sendable {
    /// The identifier of the run, as it is in the texts of events: `#7`.
    public let task: String
    /// Why it has begun.
    public let cause: OperationRunCause
    /// The time since it has begun; nil if the runs of the store were not observed then.
    public let age: Duration?
    /// The number of the attempt that it is in, or that begins next; nil if nothing in the run tries again.
    public let attempt: Int?
    /// The greatest number of attempts; nil if it is unknown.
    public var attemptLimit: Int?
    /// The time until the attempt begins; nil if it has begun.
    public let nextAttempt: Duration?
    /// Why the attempt begins at that time, to follow "because"; nil if only the backoff determines it.
    public let nextAttemptReason: String?
    /// The text of the error of the previous attempt; nil if none has failed.
    public let lastFailure: String?
    /// The time until the first time limit of the run, or of its attempt, is over; nil without one.
    public let timeLeft: Duration?
    /// The condition that it waits for; nil if it is not paused.
    public let pause: String?
    /// How long the run has waited for the condition; nil if it is not paused.
    public let pauseAge: Duration?
    /// The waits of the run for something other than a condition, such as a permit of a limit or the run of another
    /// store.
    public let waits: [Wait]
    /// The number of callers that wait for the run, without the caller that started it.
    public let joinedCallers: Int
    /// Whether its result counts: false if it was cancelled, or if the store was invalidated or reset after its start.
    public let isCurrent: Bool
    /// Whether the operation runs again for its subscribers after the run has ended.
    public let isFollowed: Bool
  }

  /// Something that a run waits for.
  public struct Wait: Hashable, Sendable {
    /// The text that follows "it waits for": `a permit of ConcurrencyLimit`.
    public let subject: String
    /// How long the run has waited. Nil for the run of another store, if the waits of its own store were not observed
    /// when the wait began.
    public let age: Duration?
  }

  /// A run that has ended.
  public struct EndedRun: Sendable {
    /// Why it had begun.
    public let cause: OperationRunCause
    /// How it has ended.
    public let end: OperationEvent.RunEnd
    /// The time since its end.
    public let age: Duration
  }

  /// A notice that a modifier has sent.
  public struct Notice: Hashable, Sendable {
    /// The name of the notice.
    public let name: String
    /// The notice as text, without its path.
    public let text: String
    /// The time since it was sent.
    public let age: Duration
  }

  /// Something that happens by itself.
  public struct Plan: Hashable, Sendable {
    /// The text that follows "it": `polls`.
    public let action: String
    /// The time until then, zero if it is due.
    public let delay: Duration

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - action: The text that follows "it".
    ///   - delay: The time until then. A negative one counts as zero.
    public init(action: String, delay: Duration) {
      self.action = action
      self.delay = max(delay, .zero)
    }
  }

  /// Facts from a modifier or a module.
  public typealias Section = StoreInspection.Section
}

// MARK: - Encoding

extension OperationExplanation: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}

extension OperationExplanation.Value: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}

extension OperationExplanation.Failure: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}

extension OperationExplanation.Run: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}

extension OperationExplanation.Wait: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}

extension OperationExplanation.EndedRun: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}

extension OperationExplanation.Notice: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}

extension OperationExplanation.Plan: Encodable {
  /// Encodes the members that are not nil.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeMembers(of: self) }
}
