public import OperationCore

/// The keys that are asked for together.
@usableFromInline
final class Batch: @unchecked Sendable {
  // Unchecked because the lock of the batcher guards the state, and the scope, whose type is erased, is Sendable.

  enum Phase: Sendable {
    /// Keys may join.
    case open
    /// No key may join. The batch waits until fewer batches are under way.
    case ready
    /// The request has been sent.
    case sent
    case ended
  }

  struct State {
    var phase = Phase.open
    /// The first callers of each key that has a caller.
    var leaders: Set<BatchLeader> = []
    /// The same, in the order in which they came; nil in place of those that were removed.
    var arrivals: [BatchMember?] = []
    /// The number of callers that have not left.
    var callerCount = 0
    /// The raw value of the highest priority of the callers.
    var priority: UInt8 = 0
    /// The place among the ready batches, for a batch that is ready.
    var readyPlace = 0
    var timer: OperationSubscription?
    var task: RunTask?

    /// Whether the keys have not been sent, and wait.
    var isWaiting: Bool { self.phase == .open || self.phase == .ready }
  }

  /// The scope of the callers; nil for those without one.
  let scope: AnyHashable?
  /// The context of the request, which comes from the first caller.
  @usableFromInline let context: OperationContext
  /// What the request waits for.
  let waitsOfRequest = BatchWaits()
  /// The batch whose request has opened this one; nil without one, or after it has ended.
  weak let enclosing: Batch?
  /// The queue of the batcher. It has the batch only while callers wait for that, so both are released.
  let queue: BatchQueue
  // The lock makes the accesses exclusive: see `BatchMember` for the figure.
  @exclusivity(unchecked) var state = State()

  init(scope: AnyHashable?, context: OperationContext, maximumSize: Int, of queue: BatchQueue) {
    self.scope = scope
    self.queue = queue
    self.context = context
    self.enclosing = BatchQueue.enclosing
    self.state.leaders.reserveCapacity(min(maximumSize, 128))
    self.state.arrivals.reserveCapacity(min(maximumSize, 128))
  }

  /// The first callers of the keys, in the order in which the keys came.
  var leadersInOrder: [BatchMember] { self.state.arrivals.compactMap { $0 } }
}

extension Batch {
  /// Adds a caller.
  ///
  /// - Parameters:
  ///   - member: The caller.
  ///   - mayAddKey: Whether the caller may be the first one of its key.
  /// - Returns: Whether it is the first caller of its key; nil if it is, but may not be, and was not added.
  func add(_ member: BatchMember, mayAddKey: Bool) -> Bool? {
    let (isFirst, leader) = self.state.leaders.insert(BatchLeader(member: member))
    guard isFirst else {
      self.add(member, after: leader.member)
      return false
    }
    guard mayAddKey else {
      self.state.leaders.remove(leader)
      return nil
    }
    member.state.position = self.state.arrivals.count
    self.state.arrivals.append(member)
    self.addCaller(member, of: member)
    return true
  }

  /// Adds a caller whose key has another caller.
  private func add(_ follower: BatchMember, after leader: BatchMember) {
    follower.state.leader = leader
    follower.state.position = leader.state.followers?.count ?? 0
    leader.state.followers?.append(follower)
    if leader.state.followers == nil { leader.state.followers = [follower] }
    self.addCaller(follower, of: leader)
  }

  private func addCaller(_ member: BatchMember, of leader: BatchMember) {
    member.state.phase = .waiting
    member.state.batch = self
    leader.state.callerCount += 1
    self.state.callerCount += 1
  }

  /// Whether a caller has loaded the same key here.
  func hasKey(of member: BatchMember) -> Bool { self.state.leaders.contains(BatchLeader(member: member)) }

  /// Removes a caller, and its key if no other caller has it. Takes constant time on average.
  ///
  /// - Returns: The first caller of the key, which may own the key alone: released after unlocking.
  func remove(_ member: BatchMember) -> BatchMember {
    let leader = member.state.leader ?? member
    member.state.phase = .left
    if leader !== member { member.removeFromFollowers(of: leader) }
    leader.state.callerCount -= 1
    self.state.callerCount -= 1
    if leader.state.callerCount == 0 { self.removeKey(of: leader) }
    return leader
  }

  private func removeKey(of leader: BatchMember) {
    self.state.leaders.remove(BatchLeader(member: leader))
    self.state.arrivals[leader.state.position] = nil
    // Where callers come and go, there are never more than twice as many places as keys.
    guard self.state.arrivals.count > 2 * self.state.leaders.count + 16 else { return }
    self.state.arrivals.removeAll { $0 == nil }
    for (position, member) in self.state.arrivals.enumerated() { member?.state.position = position }
  }

  /// Ends the batch. Returns the first callers of its keys, in the order in which the keys came.
  func end() -> [BatchMember] {
    self.state.phase = .ended
    let leaders = self.leadersInOrder
    for leader in leaders {
      leader.state.batch = nil
      guard let followers = leader.state.followers else { continue }
      for follower in followers {
        follower.state.batch = nil
        follower.state.leader = nil
      }
    }
    self.state.leaders = []
    self.state.arrivals = []
    return leaders
  }
}

extension BatchMember {
  /// Removes the member from the followers of `leader`, the last of which takes its place.
  fileprivate func removeFromFollowers(of leader: BatchMember) {
    self.state.leader = nil
    guard let last = leader.state.followers?.popLast(), last !== self else { return }
    last.state.position = self.state.position
    leader.state.followers?[self.state.position] = last
  }
}
