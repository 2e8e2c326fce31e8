internal import OperationCore
internal import Synchronization

/// The lock that guards all schedulers and their operations, as operations of different schedulers wait for each other.
enum SchedulingLock {
  private static let mutex = Mutex(())

  /// Runs `body`, which must neither call user code nor release user values, under the lock.
  static func withLock<R: Sendable>(_ body: () -> R) -> R {
    self.mutex.withLock { _ in body() }
  }

  /// Runs `body` under the lock, and performs the actions that it has collected after unlocking.
  static func perform<R: Sendable>(_ body: (inout SchedulingActions) -> R) -> R {
    var actions = SchedulingActions()
    let result = self.mutex.withLock { _ in body(&actions) }
    actions.perform()
    return result
  }
}

/// Actions that are performed after unlocking.
struct SchedulingActions {
  /// The first of the resumptions: there is seldom more than one.
  private var resumption: UnsafeContinuation<Void, Never>?
  private var resumptions: [UnsafeContinuation<Void, Never>] = []
  var cancellations: [RunTask] = []
  var taskCancellations: [any CancellableTask] = []
  /// Tasks whose priorities are raised.
  var escalations: [(task: RunTask, priority: UInt8)] = []
  /// The operations that have events for their observers.
  var deliveries: [ScheduledNode] = []
  /// The progress of schedulers, with its new counts.
  var progress: [(OperationProgress, ProgressCounts)] = []
  /// The progress of groups that have ended.
  var finishedProgress: [OperationProgress] = []
  /// The first of the values that are released after unlocking, as they may own values of users.
  private var released: ScheduledNode.ReleasedValues?
  private var otherReleased: [ScheduledNode.ReleasedValues] = []

  /// Keeps values until the lock is released.
  mutating func release(_ released: ScheduledNode.ReleasedValues) {
    if self.released == nil { self.released = released } else { self.otherReleased.append(released) }
  }

  mutating func resume(_ resumption: Waiter<Void>.Resumption) {
    self.resume(resumption.continuation)
  }

  mutating func resume(_ continuation: UnsafeContinuation<Void, Never>) {
    if self.resumption == nil { self.resumption = continuation } else { self.resumptions.append(continuation) }
  }

  func perform() {
    for task in self.cancellations { task.cancel() }
    for task in self.taskCancellations { task.cancel() }
    for (task, priority) in self.escalations { task.escalatePriority(to: TaskPriority(rawValue: priority)) }
    for (progress, counts) in self.progress { progress.update(counts) }
    for progress in self.finishedProgress { progress.finish() }
    self.resumption?.resume()
    for continuation in self.resumptions { continuation.resume() }
    for node in self.deliveries { node.deliverEvents() }
  }
}

/// How a scheduled operation has ended.
@nonexhaustive(warn)
public enum OperationOutcome: Sendable {
  /// It has returned a value.
  case succeeded
  /// It has thrown an error, or a condition has denied it.
  case failed(any Error)
  /// It was cancelled, or skipped, and has thrown this error.
  case cancelled(any Error)

  /// The error of an operation that has not succeeded.
  public var error: (any Error)? {
    switch self {
    case .succeeded: nil
    case .failed(let error), .cancelled(let error): error
    }
  }
}

/// An operation of a scheduler.
///
/// The scheduling lock guards its state.
@usableFromInline
final class ScheduledNode: Sendable {
  enum Phase: Int {
    /// It is not in its scheduler yet.
    case new
    /// It waits for other operations.
    case waiting
    /// It waits for a place in its scheduler.
    case ready
    /// It has a place, and its task is about to begin.
    case admitted
    /// Its conditions are checked.
    case preparing
    /// Its body runs.
    case running
    /// It has ended, and its observers are being notified.
    case ending
    case ended
  }

  struct State {
    var phase = Phase.new
    var job: (any ScheduledJob)?
    var context = OperationContext()
    var outcome: OperationOutcome?
    /// The value of an operation that has succeeded, for observers that are added after its end.
    var value: (any Sendable)?
    /// The outcome with which the operation ends as soon as it is in its scheduler.
    var earlyOutcome: OperationOutcome?
    var isCancelled = false
    /// The number of dependencies, vital operations and earlier unique runs that it waits for before it is ready.
    var unmetCount = 0
    // Raw values: the compiler does not know the layout of `TaskPriority`.
    var requestedPriority: UInt8?
    /// The highest of the requested priority and the priorities of operations that wait for this one.
    var priority: UInt8 = 0
    /// The highest priority of the operations that wait for this one, or have done so.
    var inheritedPriority: UInt8 = 0
    /// Whether the priority was raised after the task was created.
    var hasRaisedPriority = false

    /// The task, once the operation has begun.
    var task: RunTask?
    /// Resumes the task, which waits until the operation may begin or for a place.
    var continuation: UnsafeContinuation<Void, Never>?
    var scope: RunScope?
    var hasPlace = false
    var lendCount = 0
    /// What the operation waits for, while it has lent its place.
    var waits: [NodeWait] = []

    /// The operations that it depends on. Empty once it has begun.
    var prerequisites: [Prerequisite] = []
    /// The outcomes of the prerequisites. Empty until it has begun.
    var dependencies: [FinishedDependency] = []
    var dependents: [ScheduledNode] = []
    /// The number of dependents that have ended and are not removed yet.
    var endedDependentCount = 0
    /// Whether the body of another operation awaits its value, or has done so.
    var isAwaited = false
    /// The scopes that await its value.
    var waitingScopes: [RunScope] = []
    /// The first waiter for the end. There is seldom another one.
    var waiter: (id: UInt64, continuation: UnsafeContinuation<Void, Never>)?
    var otherWaiters: [(id: UInt64, continuation: UnsafeContinuation<Void, Never>)] = []

    /// The ticket among the operations of the scheduler; 0 for one that the scheduler has not accepted.
    var memberTicket: UInt64 = 0
    var returningTicket: UInt64 = 0
    var readyTicket: UInt64 = 0
    /// The operation is held back by vital operations with lower tickets.
    var rank: UInt64 = 0
    var isHeld = false
    /// The number of barriers that were scheduled before the operation, itself included.
    var segment = 0
    /// The schedulers for which it is vital, and its tickets there.
    var vitalPlaces: [(core: SchedulerCore, ticket: UInt64)] = []
    var unique: UniqueMember?
    /// The scheduler of the group, where the operation is a group.
    var groupCore: SchedulerCore?

    var observers: [any OperationObserver] = []
    var conditions: [any OperationCondition] = []
    /// The errors of the work that the conditions have generated.
    var generatedWorkErrors: [any Error] = []
    var hasStarted = false
    var events = SerialQueue<NodeEvent>()
  }

  /// An operation that another one depends on.
  struct Prerequisite: Sendable {
    let node: ScheduledNode
    let name: String
  }

  /// Values of an operation that are released after unlocking.
  struct ReleasedValues: Sendable {
    var job: (any ScheduledJob)?
    var scope: RunScope?
    var task: RunTask?
    var context: OperationContext?
    var prerequisites: [Prerequisite] = []
    var nodes: [ScheduledNode] = []
    var waitingScopes: [RunScope] = []
    var observers: [any OperationObserver] = []
    var conditions: [any OperationCondition] = []
    var groupCore: SchedulerCore?
    var unique: UniqueMember?
    var vitalPlaces: [(core: SchedulerCore, ticket: UInt64)] = []
  }

  let core: SchedulerCore
  let isVital: Bool
  /// Whether the operation begins after all that were scheduled before it have ended.
  let isBarrier: Bool
  let operationType: any OperationRequest.Type
  /// Whether the operation has conditions or categories, whose innermost preparation reports the start of its body.
  let hasPreparation: Bool
  /// The name that was given to the operation when it was scheduled, or else its own one.
  ///
  /// Kept, because the name is user code, and the operation is released at its end.
  let name: String
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var state = State()

  init(
    core: SchedulerCore,
    isVital: Bool,
    isBarrier: Bool,
    operationType: any OperationRequest.Type,
    hasPreparation: Bool,
    name: String
  ) {
    self.core = core
    self.hasPreparation = hasPreparation
    self.isVital = isVital
    self.isBarrier = isBarrier
    self.operationType = operationType
    self.name = name
  }

  /// Whether the operation can no longer be made to wait: its conditions are checked, or it is further.
  var hasBegun: Bool { self.state.phase.rawValue >= Phase.preparing.rawValue }

  /// Whether the operation has an outcome. Its observers may still have to be notified.
  var hasOutcome: Bool { self.state.phase.rawValue >= Phase.ending.rawValue }

  /// The value of an operation that has succeeded; nil for others. Read under the lock.
  var value: (any Sendable)? {
    guard let job = self.state.job else { return self.state.value }
    return job.erasedValue
  }
}

/// An operation that another one depended on, and how it has ended.
public struct FinishedDependency: Sendable {
  /// The name of the operation.
  public let name: String
  /// How it has ended.
  public let outcome: OperationOutcome
}
