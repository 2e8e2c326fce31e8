public import OperationCore

/// The keys that are asked for together.
@usableFromInline
final class Batch: @unchecked Sendable {
  // Unchecked because the lock of the batcher guards the state.

  enum Phase: Sendable {
    /// Keys may join.
    case open
    /// The request has been sent.
    case sent
    case ended
  }

  struct State: Sendable {
    var phase = Phase.open
    /// The first callers of each key, in the order in which the keys came; nil for a key that has left.
    var leaders: [BatchMember?] = []
    var index: BatchIndex
    /// The number of keys that have a caller.
    var keyCount = 0
    /// The number of callers that have not left.
    var callerCount = 0
    /// The raw value of the highest priority of the callers.
    var priority: UInt8 = 0
    var timer: OperationSubscription?
    var task: RunTask?
  }

  /// The scope of the callers; nil for those without one.
  let scope: (any Hashable & Sendable)?
  let scopeHash: Int
  /// The context of the request, which comes from the first caller.
  @usableFromInline let context: OperationContext
  // The lock makes the accesses exclusive: see `BatchMember` for the figure.
  @exclusivity(unchecked) var state: State

  init(scope: (any Hashable & Sendable)?, scopeHash: Int, context: OperationContext, maximumSize: Int) {
    self.scope = scope
    self.scopeHash = scopeHash
    self.context = context
    self.state = State(index: BatchIndex(maximumSize: maximumSize))
    self.state.leaders.reserveCapacity(min(maximumSize, 128))
  }
}

extension Batch {
  /// Adds the first caller of a key.
  func add(_ leader: BatchMember) {
    self.state.keyCount += 1
    self.state.index.makeRoom(for: &self.state.leaders, keyCount: self.state.keyCount)
    leader.state.position = self.state.leaders.count
    self.state.leaders.append(leader)
    self.state.index.add(leader)
    self.addCaller(leader, of: leader)
  }

  /// Adds a caller whose key has another caller.
  func add(_ follower: BatchMember, after leader: BatchMember) {
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

  /// Removes a caller, and its key if no other caller has it. Takes constant time.
  ///
  /// - Returns: The first caller of the key, which may own the key alone: released after unlocking.
  func remove(_ member: BatchMember) -> BatchMember {
    let leader = member.state.leader ?? member
    member.state.phase = .left
    if leader !== member { member.removeFromFollowers(of: leader) }
    leader.state.callerCount -= 1
    self.state.callerCount -= 1
    guard leader.state.callerCount == 0 else { return leader }
    // The index passes over the keys that have left.
    self.state.leaders[leader.state.position] = nil
    if self.state.phase == .open { self.state.keyCount -= 1 }
    return leader
  }

  /// Ends the batch. Returns the first callers of its keys, in the order in which the keys came.
  func end() -> [BatchMember] {
    self.state.phase = .ended
    let leaders = self.state.leaders.compactMap(\.self)
    for leader in leaders {
      leader.state.batch = nil
      guard let followers = leader.state.followers else { continue }
      for follower in followers {
        follower.state.batch = nil
        follower.state.leader = nil
      }
    }
    self.state.leaders = []
    self.state.index.removeAll()
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
