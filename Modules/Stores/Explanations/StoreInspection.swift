public import OperationFoundation

/// What a store is and does at one moment: see ``OperationStore/inspect()``.
///
/// ```swift
/// let inspection = store.inspect()
/// for wait in inspection.runs.flatMap(\.waits) { print(wait.subject()) }
/// ```
///
/// The store is read once, with its lock held, so that the parts do not contradict each other. Code of users, such as
/// staleness rules, conditions and the cache of the client, is asked after that, about the state that was read.
///
/// An inspection keeps the values and the errors of the store alive, but not the store.
public struct StoreInspection: Sendable {
  /// The path of the operation.
  public let path: OperationPath

  /// The ``OperationRequest/operationName`` of the operation.
  public let operationName: String

  /// The type of the operation without its modifiers.
  public let operationType: any OperationRequest.Type

  /// The context that runs receive.
  public let context: OperationContext

  /// The date of the inspection, by the ``OperationClock`` of the context.
  public let date: Date

  /// The elapsed time of the context's ``DeadlineSource``, from which ages of runs and waits count.
  public let elapsed: Duration

  /// Whether a client has the store. Then it is found at its path.
  public let isInClient: Bool

  /// Whether a client had the store and has it no longer.
  public let wasRemovedFromClient: Bool

  /// The state that the store shows: with optimistic updates.
  public let state: any OperationState & Sendable

  /// The state that runs and setters have produced, without optimistic updates.
  public let confirmedState: any OperationState & Sendable

  /// What is known of the value in ``confirmedState``: whether a run has returned it, and what it may be used for.
  public let stamp: ValueStamp

  /// Whether the value without optimistic updates is stale, why, and since when.
  public let staleness: OperationStaleness

  /// The number of the last invalidation of the store, and of the last one that was answered; 0 before the first.
  ///
  /// A run that began after an invalidation, a set value or a reset answers it. Numbers count the invalidations of the
  /// process.
  public let invalidations: (all: Int, answered: Int)

  /// Whether the value of an earlier store is still being read from a storage.
  public let isRestoring: Bool

  /// The optimistic updates on top of the confirmed state, from the lowest up.
  public let layers: [Layer]

  /// The names of the subscribers in the order in which they came. Nil stands for one without a name.
  public let subscribers: [String?]

  /// The runs, in the order in which they have begun, and after them those that are about to begin.
  ///
  /// A run is no longer here once its result is in the state.
  public var runs: [Run]

  /// Whether the operation runs once more for its subscribers when the runs from before an invalidation have ended.
  public let needsRerun: Bool

  /// Whether the operation may run without a call.
  public let automaticRuns: AutomaticRuns

  /// The elapsed time of the context's deadlines at which the operation polls next.
  ///
  /// Nil if it does not: without subscribers, while the condition of its polling does not hold, and while it may not
  /// run by itself.
  public let nextPoll: Duration?

  /// When the client evicts the store if it stays idle, by the clock of the context.
  ///
  /// Nil while the store is in use, and if the cache does not know: see
  /// ``OperationClient/StoreCache/evictionDate(of:)``.
  public let evictionDate: Date?

  /// Facts from modifiers and modules, such as the sources of a derived query: see ``OperationExplaining``.
  ///
  /// Empty unless they were asked for: see ``OperationStore/inspectWithSections()``.
  public var sections: [Section] = []

  private let origin: ValueOrigin?

  /// The origin of a value that is a fallback or was restored, in a sentence; nil for a usual value.
  public var valueOrigin: String? { self.origin?.text() }

  private let operation: OperationBox

  /// The modifiers as they are written, in the order in which they act on a call: outermost first.
  ///
  /// In release builds, a modifier that only edits the context is written `.context { … }`.
  public var modifiers: [String] { self.operation.storage.anyOperation.modifierTexts.reversed() }

  /// An optimistic update.
  public struct Layer: Hashable, Sendable {
    /// The name of the operation whose call it shows; nil if it is unknown.
    public let author: String?

    /// Whether the call has succeeded, so that the update stays only until a refetched value replaces it.
    public let isCommitted: Bool
  }

  /// Whether an operation may run without a call. Later versions may have more cases, so a `switch` needs a default.
  @nonexhaustive(warn)
  public enum AutomaticRuns: Hashable, Sendable {
    /// It runs for new subscribers, after invalidations, and when its conditions become true.
    case allowed
    /// It runs only when it is called, as a mutation does.
    case never
    /// Automatic running is disabled.
    case disabled
    /// The client has stopped automatic runs.
    case stopped
    /// The client has removed the store.
    case removed
    /// Automatic running waits for a condition. The text follows "until".
    case waiting(for: String)
  }

  /// A run that has begun or is about to.
  public struct Run: Sendable, Identifiable {
    /// What a run does. Later versions may have more cases, so a `switch` needs a default.
    @nonexhaustive(warn)
    public enum Phase: Hashable, Sendable {
      /// It is about to begin. Callers can join it already.
      case reserved
      /// It has begun.
      case started
      /// It was cancelled before its work began.
      case skipped
      /// It has begun before a condition of the operation became true. If it fails, it may be repeated.
      case premature
    }

    /// The identifier of the run.
    public let id: OperationTaskIdentifier

    /// What it does.
    public let phase: Phase

    /// Why it has begun.
    public let cause: OperationRunCause

    /// Its context.
    public let context: OperationContext

    /// When it has begun, by the deadlines and the clock of its context.
    ///
    /// Nil if it has not, and if the runs of the store were not observed then.
    public let start: (elapsed: Duration, date: Date)?

    /// The attempt that it is in, or that has failed last while it waits for the next one.
    ///
    /// Nil if nothing in the run tries again.
    public let attempt: OperationAttempt?

    /// The greatest number of attempts; nil if it is unknown, and unless the modifiers were asked for their facts.
    public var attemptLimit: Int?

    /// The elapsed time of the context's ``DeadlineSource`` at which the first time limit of the run, or of its attempt, is
    /// over.
    ///
    /// Nil without one, and unless the modifiers were asked for their facts.
    public var timeLimitEnd: Duration?

    /// What it waits for: a condition, and whatever its modifiers and its work have begun to wait for.
    public let waits: [StoreWait]

    /// The number of callers that wait for it. The subscribers are no callers.
    public let callerCount: Int

    /// Whether it also runs for the subscribers of the store.
    public let isForSubscribers: Bool

    /// Whether its result counts: false if it was cancelled, and if the store was invalidated or reset after its start.
    public let isCurrent: Bool
  }

  /// Facts from a modifier or a module.
  public struct Section: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The title, such as `Tags`.
    public let title: String
    /// The facts, each a few words without user data besides paths.
    public let facts: [String]

    /// Creates a section.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - facts: The facts, each a few words. A section without facts is not shown.
    public init(title: String, facts: [String]) {
      self.title = title
      self.facts = facts
    }

    /// The title and the facts in one line.
    public var description: String { "\(self.title): \(self.facts.joined(separator: "; "))" }
  }
}

extension OperationStore {
  /// Reads what the store is and does at this moment, for tools and for tests.
  ///
  /// - Returns: The inspection, in which values and errors are as they are: see ``ShownText`` before you show them.
  /// - Complexity: O(*n*) in the number of subscribers, runs, layers and staleness rules.
  public func inspect() -> StoreInspection { StoreInspection(self.runtime) }
}

extension OpaqueOperationStore {
  /// Reads what the store is and does at this moment: see ``OperationStore/inspect()``.
  ///
  /// - Returns: The inspection.
  /// - Complexity: O(*n*) in the number of subscribers, runs, layers and staleness rules.
  public func inspect() -> StoreInspection { StoreInspection(self.runtime) }
}

extension OpaqueOperationStore {
  /// The runs of an inspection alone, for which no code of users is asked.
  package var inspectedRuns: [StoreInspection.Run] {
    self.runtime.withMachine { $0.runs.isEmpty } ? [] : self.runtime.read().inspectedRuns
  }
}

extension StoreInspection {
  package init(_ runtime: StoreRuntime) {
    let reading = runtime.read()
    // Whatever is asked finds the date of the inspection.
    let context = reading.context.stoppingClock()
    self.path = runtime.path
    self.operation = runtime.operation
    self.operationName = runtime.operationName
    self.operationType = runtime.unmodifiedOperationType
    self.context = reading.context
    self.date = context.date
    self.elapsed = context.elapsed
    self.isInClient = reading.entry != nil
    self.wasRemovedFromClient = reading.entry == nil && reading.wasInClient
    self.state = reading.shownState.typed
    self.confirmedState = reading.state.typed
    self.stamp = reading.state.stamp
    self.staleness = reading.staleness(in: context, isRefreshed: runtime.allowsAutomaticRuns)
    self.invalidations = (reading.invalidations, reading.answeredInvalidations)
    self.isRestoring = context.storeLevels.contains { $0.isRestoring }
    self.layers = reading.layers.map { Layer(author: $0.author, isCommitted: $0.replacingInvalidation != nil) }
    self.subscribers = reading.subscribers.map { $0?.text }
    self.runs = reading.inspectedRuns
    self.needsRerun = reading.needsRerun
    self.automaticRuns = AutomaticRuns(of: runtime, in: context)
    self.nextPoll = self.automaticRuns.allowsReruns(in: context) ? reading.nextPoll(in: context) : nil
    self.evictionDate = reading.evictionDate
    self.origin = reading.valueOrigin
  }
}

extension StoreInspection.AutomaticRuns {
  fileprivate init(of runtime: StoreRuntime, in context: OperationContext) {
    if !runtime.allowsAutomaticRuns {
      self = .never
    } else if runtime.isOver {
      self = .removed
    } else if context.automaticRunsAreStopped {
      self = .stopped
    } else if context.automaticRunningSpecification.isSatisfied(in: context) {
      self = .allowed
    } else if let specification = context.changingAutomaticRunningSpecification {
      self = .waiting(for: specification.waitReason)
    } else {
      self = .disabled
    }
  }
  /// Whether controllers may rerun the operation, as ``OperationControls/canYieldRerun`` says.
  fileprivate func allowsReruns(in context: OperationContext) -> Bool {
    self == .allowed || self == .disabled && !context.isAutomaticRunningConfigured
  }
}
