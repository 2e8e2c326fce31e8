internal import OperationCore

/// The operations of one scheduler. The scheduling lock guards its state.
@usableFromInline
final class SchedulerCore: Sendable {
  // Unsafe because the compiler does not see that the scheduling lock guards it.
  nonisolated(unsafe) var machine: SchedulerMachine
  let name: String
  let initialContext: OperationContext
  /// Whether there are enqueuing modules.
  let hasModules = AtomicFlag(false)
  let executorPreference: (any TaskExecutor)?

  init(width: Int, name: String, isSuspended: Bool, initialContext: OperationContext) {
    self.machine = SchedulerMachine(width: width, isSuspended: isSuspended)
    _ = PausedPlaces.observation
    self.name = name
    self.initialContext = initialContext
    self.executorPreference =
      initialContext.hasTaskConfiguration ? initialContext.operationTaskConfiguration.executorPreference : nil
  }
}

/// The state of a scheduler.
struct SchedulerMachine {
  var width: Int
  var isSuspended: Bool
  /// The number of operations that have a place.
  var placeCount = 0
  var lastTicket: UInt64 = 0
  /// All operations that have not ended.
  var members = TicketQueue<ScheduledNode>()
  var ready = ReadyQueue()
  /// The operations that have lent their places, and wait for one again.
  var returning = TicketQueue<ScheduledNode>()
  /// The vital operations that have not ended, other schedulers' included.
  var vitals = TicketQueue<ScheduledNode>()
  /// The operations that vital operations hold back, by rank.
  var held = TicketQueue<ScheduledNode>()
  /// The products of such operations, by the ranks of their producers.
  var heldProducts = TicketQueue<HeldProducts>()
  /// For each priority, the ticket below which all vital operations have received it.
  var raisedVitals: [UInt8: UInt64] = [:]
  /// For each priority, the ticket below which all operations have received it from barriers.
  var raisedMembers: [UInt8: UInt64] = [:]
  /// The number of vital operations that belong to other schedulers.
  var foreignVitalCount = 0
  /// The operations before, between and after barriers.
  var segments = BarrierSegments()
  /// The callers that wait until the scheduler is empty.
  var emptyWaiters: [UnsafeContinuation<Void, Never>] = []
  /// The number of runs that wait until the scheduler is empty.
  var emptyWaitCount = 0
  /// The number of scheduler objects that users have.
  var handleCount = 0
  var modules: [@Sendable (AnyScheduledOperation, OperationScheduler) -> Void] = []

  var completedCount = 0
  var totalCount = 0
  var progress: OperationProgress?

  /// The operation of the group; nil for a scheduler without a group, or before its group is scheduled.
  var groupNode: ScheduledNode?
  /// The scope in which the group runs.
  var groupScope: RunScope?
  /// Whether the scheduler belongs to a group that has not begun.
  var isWaitingForGroup = false
  /// Whether the group was cancelled, so that operations which are added to it are cancelled at once.
  var isCancelled = false
  var closesWhenEmpty = false
  var isClosed = false
  /// The errors of failed operations, if they are collected.
  var errors: [any Error]?

  init(width: Int, isSuspended: Bool) {
    self.width = width
    self.isSuspended = isSuspended
  }

  /// Whether no operation may begin.
  var holdsAll: Bool { self.isSuspended || self.isWaitingForGroup }

  /// Whether no operation may begin, and nothing can change that.
  var isAbandoned: Bool { self.holdsAll && self.handleCount == 0 }

  mutating func nextTicket() -> UInt64 {
    self.lastTicket += 1
    return self.lastTicket
  }

  var counts: ProgressCounts {
    ProgressCounts(completed: self.completedCount, total: self.totalCount)
  }
}

/// Operations of one rank that vital operations hold back, by their tickets.
final class HeldProducts: @unchecked Sendable {
  // Unchecked because the compiler does not see that the scheduling lock guards the nodes.
  var nodes = TicketQueue<ScheduledNode>()
}

/// Operations that wait for a place: higher priorities first, and equal ones in the order in which they came.
///
/// Every sixteenth choice is the operation that waits longest, so that a stream of urgent operations starves none.
struct ReadyQueue {
  private struct Bucket {
    let priority: UInt8
    var nodes = TicketQueue<ScheduledNode>()
  }

  /// Sorted by descending priority. There are as many as priorities have been in use.
  private var buckets: [Bucket] = []
  private var lastTicket: UInt64 = 0
  private var choiceCount = 0

  mutating func append(_ node: ScheduledNode) {
    self.lastTicket += 1
    node.state.readyTicket = self.lastTicket
    let index = self.index(of: node.state.priority)
    self.buckets[index].nodes.append(node, ticket: self.lastTicket)
  }

  /// Adds an operation that was in the queue before, in its former order.
  mutating func putBack(_ node: ScheduledNode) {
    let index = self.index(of: node.state.priority)
    self.buckets[index].nodes.insert(node, ticket: node.state.readyTicket)
  }

  mutating func remove(_ node: ScheduledNode) {
    _ = self.buckets[self.index(of: node.state.priority)].nodes.remove(node.state.readyTicket)
  }

  mutating func popNext() -> ScheduledNode? {
    if self.buckets.count == 1 { return self.buckets[0].nodes.popFirst() }
    let filled = self.buckets.indices.filter { !self.buckets[$0].nodes.isEmpty }
    guard var choice = filled.first else { return nil }
    if filled.count > 1 {
      self.choiceCount += 1
      if self.choiceCount.isMultiple(of: 16) {
        let oldest = filled.min { self.firstTicket($0) < self.firstTicket($1) }
        choice = oldest ?? choice
      }
    }
    return self.buckets[choice].nodes.popFirst()
  }

  private func firstTicket(_ index: Int) -> UInt64 { self.buckets[index].nodes.firstTicket ?? .max }

  private mutating func index(of priority: UInt8) -> Int {
    var index = 0
    while index < self.buckets.count, self.buckets[index].priority > priority { index += 1 }
    if index == self.buckets.count || self.buckets[index].priority != priority {
      self.buckets.insert(Bucket(priority: priority), at: index)
    }
    return index
  }
}
