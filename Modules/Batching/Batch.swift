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
  var phase = Phase.open
  /// The first callers of each key, in the order in which the keys came. Some may have left.
  var leaders: [BatchMember] = []
  /// The first callers by the hash of the key.
  var leadersByHash: [Int: BatchMember] = [:]
  /// The number of keys that have a caller.
  var keyCount = 0
  /// The number of callers that have not left.
  var callerCount = 0
  var timer: OperationSubscription?
  var task: Task<Void, Never>?

  init(scope: (any Hashable & Sendable)?, scopeHash: Int, context: OperationContext) {
    self.scope = scope
    self.scopeHash = scopeHash
    self.context = context
  }
}

extension Batch {
  /// Adds the first caller of a key, before another leader whose key has the same hash.
  func add(_ leader: BatchMember, before other: BatchMember?) {
    leader.nextOfHash = other
    self.leadersByHash[leader.hash] = leader
    self.leaders.append(leader)
    self.keyCount += 1
    self.addCaller(leader, of: leader)
  }

  /// Adds a caller whose key has another caller.
  func add(_ follower: BatchMember, after leader: BatchMember) {
    follower.leader = leader
    leader.followers.append(follower)
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
    let leader = member.leader ?? member
    member.phase = .left
    leader.callerCount -= 1
    self.callerCount -= 1
    guard leader.callerCount == 0, self.phase == .open else { return }
    self.keyCount -= 1
    var previous: BatchMember?
    var current = self.leadersByHash[leader.hash]
    while let member = current, member !== leader { (previous, current) = (member, member.nextOfHash) }
    if let previous {
      previous.nextOfHash = leader.nextOfHash
    } else {
      self.leadersByHash[leader.hash] = leader.nextOfHash
    }
    leader.nextOfHash = nil
  }

  /// Ends the batch. Returns the first callers of its keys, in the order in which the keys came.
  func end() -> [BatchMember] {
    self.phase = .ended
    let leaders = self.leaders
    for leader in leaders {
      leader.batch = nil
      leader.nextOfHash = nil
      for follower in leader.followers { follower.batch = nil }
    }
    self.leaders = []
    self.leadersByHash = [:]
    return leaders
  }
}
