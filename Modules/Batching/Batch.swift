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
    /// The number of keys that ever had a caller.
    var positionCount = 0
    /// The number of callers that have not left.
    var callerCount = 0
    /// The raw value of the highest priority of the callers.
    var priority: UInt8 = 0
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
  private(set) weak var queue: BatchQueue?
  // The lock makes the accesses exclusive: see `BatchMember` for the figure.
  @exclusivity(unchecked) var state = State()

  init(scope: AnyHashable?, context: OperationContext, maximumSize: Int, of queue: BatchQueue) {
    self.scope = scope
    self.queue = queue
    self.context = context
    self.state.leaders.reserveCapacity(min(maximumSize, 128))
  }

  /// The first callers of the keys, in the order in which the keys came.
  var leadersInOrder: [BatchMember] {
    self.state.leaders.map(\.member).sorted { $0.state.position < $1.state.position }
  }

  /// The first caller of the key of a caller; nil if the key has none.
  func leader(of member: BatchMember) -> BatchMember? {
    self.state.leaders.firstIndex(of: BatchLeader(member: member)).map { self.state.leaders[$0].member }
  }
}

extension Batch {
  /// Adds the first caller of a key.
  func add(_ leader: BatchMember) {
    leader.state.position = self.state.positionCount
    self.state.positionCount += 1
    self.state.leaders.insert(BatchLeader(member: leader))
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
    if leader.state.callerCount == 0 { self.state.leaders.remove(BatchLeader(member: leader)) }
    return leader
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
