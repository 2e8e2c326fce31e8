public import OperationCore

/// The keys that are asked for together. The lock of its batcher guards its variables.
@usableFromInline
final class Batch: @unchecked Sendable {
  // Unchecked because the lock of the batcher guards the variables.

  enum Phase: Sendable {
    /// Keys may join.
    case open
    /// The request has been sent.
    case sent
    case ended
  }

  /// The scope of the callers; nil for those without one.
  let scope: (any Hashable & Sendable)?
  let scopeHash: Int
  /// The context of the request, which comes from the first caller.
  @usableFromInline let context: OperationContext
  // The lock makes accesses exclusive, so that they need no check: see `BatchIndex` for the figure.
  @exclusivity(unchecked) var phase = Phase.open
  /// The first callers of each key, in the order in which the keys came. Some may have left.
  @exclusivity(unchecked) var leaders: [BatchMember] = []
  @exclusivity(unchecked) var index: BatchIndex
  /// The number of keys that have a caller.
  @exclusivity(unchecked) var keyCount = 0
  /// The number of callers that have not left.
  @exclusivity(unchecked) var callerCount = 0
  @exclusivity(unchecked) var timer: OperationSubscription?
  @exclusivity(unchecked) var task: RunTask?

  init(scope: (any Hashable & Sendable)?, scopeHash: Int, context: OperationContext, maximumSize: Int) {
    self.scope = scope
    self.scopeHash = scopeHash
    self.context = context
    self.index = BatchIndex(maximumSize: maximumSize)
    self.leaders.reserveCapacity(min(maximumSize, 128))
  }
}

extension Batch {
  /// Adds the first caller of a key.
  func add(_ leader: BatchMember) {
    self.leaders.append(leader)
    self.keyCount += 1
    self.addCaller(leader, of: leader)
    self.index.addLast(of: self.leaders)
  }

  /// Adds a caller whose key has another caller.
  func add(_ follower: BatchMember, after leader: BatchMember) {
    follower.leader = leader
    leader.followers?.append(follower)
    if leader.followers == nil { leader.followers = [follower] }
    self.addCaller(follower, of: leader)
  }

  private func addCaller(_ member: BatchMember, of leader: BatchMember) {
    member.phase = .waiting
    member.batch = self
    leader.callerCount += 1
    self.callerCount += 1
  }

  /// Removes a caller, and its key if no other caller has it and the request is not sent.
  func remove(_ member: BatchMember) {
    let leader = member.leader.take() ?? member
    member.phase = .left
    leader.callerCount -= 1
    self.callerCount -= 1
    // The index passes over leaders without callers.
    if leader.callerCount == 0, self.phase == .open { self.keyCount -= 1 }
  }

  /// Ends the batch. Returns the first callers of its keys, in the order in which the keys came.
  func end() -> [BatchMember] {
    self.phase = .ended
    let leaders = self.leaders
    for leader in leaders {
      leader.batch = nil
      guard let followers = leader.followers else { continue }
      for follower in followers {
        follower.batch = nil
        follower.leader = nil
      }
    }
    self.leaders = []
    self.index.removeAll()
    return leaders
  }
}
