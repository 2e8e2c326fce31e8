internal import OperationCore

/// How far a call is between its position in the order and the end of its entry. A phase has what no other one has.
///
/// - **reserved**, then **arrived**: the call is not accepted. A removal of all calls refuses it.
/// - **accepted**: its entry is stored. It waits, is made, or is kept for the user.
/// - **removing**, **ended**: its entry is being removed, because of the user or after its run.
/// - **takenOver**: another process has removed its entry, while a body of it runs in this one.
enum JournalPhase: Sendable {
  /// It has only a position: its run has not come to the journal, and may wait for what removes the calls.
  indirect case reserved(Acceptance = Acceptance())
  /// Its run has come, and it is being stored.
  indirect case arrived(Acceptance)
  case accepted
  case removing(Removal)
  /// How its run has ended, for stores that show it; nil if none shows it, or if it was removed meanwhile.
  case ended(JournalEnding?)
  case takenOver

  /// What a call has until it is accepted.
  struct Acceptance: Sendable {
    /// Whether a removal has refused it.
    var isRefused = false
    /// The call that it replaces once it is stored.
    var replaced: JournalState.Position?
    /// The version of the entry with which it was merged. What is known of that call by then may be newer.
    var replacedVersion: CallVersion?
    /// What is stored in the same step, if it is a call of a schedule.
    var step: ScheduleStep?
    /// The tasks that wait until it is being stored, or turns out not to be stored.
    var storeWaiters: [AwaitedOutcome<Void>] = []
    /// The tasks that wait until it is accepted or refused.
    var waiters: [AwaitedOutcome<Void>] = []
  }

  /// Whether the time of a call has passed, in which it could be made. A body that runs goes on all the same.
  enum Expiry: Sendable {
    case ahead
    case passed
    /// It is being set aside, with this stored form.
    indirect case storing(JournalRecord)

    var hasPassed: Bool { if case .ahead = self { false } else { true } }

    var record: JournalRecord? { if case .storing(let record) = self { record } else { nil } }

    mutating func pass() { if case .ahead = self { self = .passed } }

    mutating func endStoring() { if case .storing = self { self = .passed } }
  }

  /// The bodies of a call.
  enum Bodies: Sendable {
    case none
    /// No body runs, and the record counts the next one already, which saves one write.
    case counted
    case running(Int)

    var isRunning: Bool { if case .running = self { true } else { false } }
    var areCounted: Bool { if case .counted = self { true } else { false } }

    /// A body begins. Returns whether the record has to count it.
    mutating func begin() -> Bool {
      switch self {
      case .none: self = .running(1)
      case .counted:
        self = .running(1)
        return false
      case .running(let count): self = .running(count + 1)
      }
      return true
    }

    /// A body has ended. Returns whether none runs any more.
    @discardableResult
    mutating func end() -> Bool {
      guard case .running(let count) = self else { return false }
      self = count > 1 ? .running(count - 1) : .none
      return count == 1
    }

    /// The body that the record counts does not begin. Returns whether there was one.
    @discardableResult
    mutating func takeBack() -> Bool {
      guard case .counted = self else { return false }
      self = .none
      return true
    }
  }

  /// The task that makes a call again.
  enum Replay: Sendable {
    case none
    case task(Task<Void, Never>)
    /// It was cancelled, or must not begin.
    case cancelled

    var task: Task<Void, Never>? { if case .task(let task) = self { task } else { nil } }
    var isCancelled: Bool { if case .cancelled = self { true } else { false } }

    /// Notes the task that was made. Returns whether it has to be cancelled.
    mutating func begin(_ task: Task<Void, Never>) -> Bool {
      if self.isCancelled { return true }
      self = .task(task)
      return false
    }

    /// Returns the task to cancel; nil if there is none yet.
    mutating func cancel() -> Task<Void, Never>? {
      defer { self = .cancelled }
      return self.task
    }

    /// The task has ended. A call whose task was cancelled stays so until it is made again.
    mutating func end() { if case .task = self { self = .none } }
  }

  /// Whether a call has failed, so that only `resume()` or a later time makes it again.
  enum Hold: Sendable {
    case none
    /// Its last failure has asked to wait until a time, by the deadlines; nil if it has not.
    case held(hintEnd: Duration?)

    static var held: Self { .held(hintEnd: nil) }

    var isHeld: Bool { if case .held = self { true } else { false } }
    var hintEnd: Duration? { if case .held(let end) = self { end } else { nil } }
  }

  /// The process that makes a call.
  enum Maker: Sendable {
    case thisProcess
    /// Another one, which lives.
    case otherProcess

    /// The process that has accepted a call, if it is one of the others that live; otherwise this one.
    static func owner(_ owner: String?, of living: Set<String>) -> Self {
      owner.map { living.contains($0) } == true ? .otherProcess : .thisProcess
    }
  }

  /// Where a call comes from.
  enum Origin: Sendable {
    /// This process has accepted it.
    case thisProcess
    /// It was stored before this process first read the entries. Later calls of its scope wait for it, whichever process makes it.
    case earlierStart(Maker)
    /// Another process has stored it since. Its scope waits for it only if this process makes it: two processes must not
    /// wait for each other's calls.
    case otherProcess(Maker)

    /// Whether another process, which lives, makes it.
    var isElsewhere: Bool {
      switch self {
      case .thisProcess, .earlierStart(.thisProcess), .otherProcess(.thisProcess): false
      case .earlierStart(.otherProcess), .otherProcess(.otherProcess): true
      }
    }

    var isThisProcess: Bool { if case .thisProcess = self { true } else { false } }

    /// Whether later calls of its scope wait for it.
    var countsInScope: Bool { if case .otherProcess(.otherProcess) = self { false } else { true } }

    mutating func setMaker(_ maker: Maker) {
      switch self {
      case .earlierStart: self = .earlierStart(maker)
      case .otherProcess: self = .otherProcess(maker)
      case .thisProcess: if maker == .otherProcess { self = .otherProcess(maker) }
      }
    }
  }

  /// The removal of an entry.
  struct Removal: Sendable {
    /// The result; nil if there was nothing to write.
    var write: JournalRemoval?
    /// Whether the call was refused before it was accepted, so that its caller does not make it.
    let isOfRefused: Bool
    /// How many times the arguments were replaced that the user has decided to remove; nil if the user removes the call whatever they
    /// are.
    var revision: Int?
  }

  /// What it has until it is accepted; nil afterwards.
  var acceptance: Acceptance? {
    get {
      switch self {
      case .reserved(let acceptance), .arrived(let acceptance): acceptance
      case .accepted, .removing, .ended, .takenOver: nil
      }
    }
    set {
      guard let newValue else { return }
      switch self {
      case .reserved: self = .reserved(newValue)
      case .arrived: self = .arrived(newValue)
      case .accepted, .removing, .ended, .takenOver: break
      }
    }
  }

  /// Whether it is in the storage, which makes it accepted.
  var isStored: Bool {
    switch self {
    case .reserved, .arrived: false
    case .accepted, .removing, .ended, .takenOver: true
    }
  }

  /// Whether the next write removes it.
  var isGone: Bool {
    switch self {
    case .removing, .ended: true
    case .reserved, .arrived, .accepted, .takenOver: false
    }
  }

  var isTakenOver: Bool { if case .takenOver = self { true } else { false } }

  /// Whether a removal has refused it before it was accepted.
  var isRefused: Bool {
    switch self {
    case .reserved(let acceptance), .arrived(let acceptance): acceptance.isRefused
    case .removing(let removal): removal.isOfRefused
    case .accepted, .ended, .takenOver: false
    }
  }

  // MARK: - Transitions

  /// Its run has come to the journal.
  mutating func arrive() { if case .reserved(let acceptance) = self { self = .arrived(acceptance) } }

  /// All calls are removed before it is accepted. Returns whether its run has come, so that it is about to be stored.
  mutating func refuse() -> Bool {
    self.acceptance?.isRefused = true
    if case .arrived = self { return true } else { return false }
  }

  /// Its run has ended. The user may have removed it meanwhile.
  mutating func end(with ending: JournalEnding) {
    if case .removing = self { self = .ended(nil) } else { self = .ended(ending) }
  }

  /// Its entry could not be removed. Returns whether it is to be made again, and whether it was refused.
  mutating func endFailedRemoval() -> (isAccepted: Bool, isOfRefused: Bool) {
    guard case .removing(let removal) = self else { return (!self.isGone, false) }
    self = .accepted
    return (true, removal.isOfRefused)
  }
}
