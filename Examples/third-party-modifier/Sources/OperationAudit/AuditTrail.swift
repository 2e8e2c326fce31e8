internal import OperationCore
internal import Synchronization

internal import struct FoundationEssentials.Date

/// Keeps the newest records of the operations that are audited in it, and passes each record to subscribers.
///
/// Make one for the program, and pass it to `.audited(in:)` of each operation that is to be recorded.
///
/// A trail has a capacity, so that it does not grow in a service that runs for months. To keep records for longer,
/// store them in a subscriber, which receives each record once.
public final class AuditTrail: Sendable {
  /// The number of records that the trail keeps.
  public let capacity: Int

  struct State {
    var lastID = 0
    var activeCount = 0
    /// The newest records, and up to as many older ones. Those are removed all at once, so that a record costs O(1).
    var records: [AuditRecord] = []
    var recordCount = 0
    /// In the order in which they subscribed.
    var subscribers: [Subscriber] = []
    var lastSubscriberID: UInt64 = 0
    /// The records that are not delivered yet.
    var pending: [Delivery] = []
    /// Whether a thread is delivering records. Other threads leave theirs to it, which keeps the order.
    var isDelivering = false
  }

  // No code of a user runs while it is locked: no handler, no description of an error, and no deinitializer, as what is
  // removed from the state is returned and released after unlocking.
  let state = Mutex(State())

  /// Creates an empty trail.
  ///
  /// - Parameter capacity: The number of records to keep, at least 1.
  public init(capacity: Int = 1000) {
    precondition(capacity > 0, "An audit trail with a capacity of \(capacity) keeps no record. Pass at least 1.")
    self.capacity = capacity
  }

  /// The newest records in the order in which the runs ended.
  ///
  /// - Complexity: O(*n*) in the number of records.
  public var records: [AuditRecord] { self.state.withLock { Array($0.records.suffix(self.capacity)) } }

  /// The number of runs that have ended, including those whose records were removed.
  public var recordCount: Int { self.state.withLock { $0.recordCount } }

  /// The number of runs that have begun and not ended.
  public var activeCount: Int { self.state.withLock { $0.activeCount } }
}

// MARK: - Recording

extension AuditTrail {
  /// A run that has begun. It belongs to that run alone, and so it needs no lock.
  struct Run {
    let id: Int
    let parentID: Int?
    let operationName: String
    let beganAt: Date
    let elapsed: Duration
  }

  func begin(_ operationName: String, in context: OperationContext) -> Run {
    // The clocks are a user's code: they are read before the lock is taken.
    let (date, elapsed) = (context.operationClock.now(), context.operationDeadlines.elapsed)
    let id = self.state.withLock { state in
      state.lastID += 1
      state.activeCount += 1
      return state.lastID
    }
    let parent = context.auditScope.flatMap { $0.trail === self ? $0.id : nil }
    return Run(id: id, parentID: parent, operationName: operationName, beganAt: date, elapsed: elapsed)
  }

  func end(_ run: Run, with outcome: AuditRecord.Outcome, in context: OperationContext) {
    let record = AuditRecord(
      id: run.id,
      parentID: run.parentID,
      operationName: run.operationName,
      principal: context.auditPrincipal,
      attempt: context.operationAttempt,
      beganAt: run.beganAt,
      duration: context.operationDeadlines.elapsed - run.elapsed,
      outcome: outcome
    )
    let isDue = self.state.withLock { state in
      state.activeCount -= 1
      state.recordCount += 1
      state.records.append(record)
      if state.records.count - self.capacity >= self.capacity {
        state.records.removeFirst(state.records.count - self.capacity)
      }
      return state.enqueue(record)
    }
    if isDue { self.deliver() }
  }
}
