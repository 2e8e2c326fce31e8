/// A caller that waits for a key, without the types of the key and the value.
///
/// The first caller of a key leads: the later ones are its followers.
@usableFromInline
class BatchMember: @unchecked Sendable {
  // Unchecked because the lock of the batcher guards the state.

  @usableFromInline
  enum Phase: Sendable {
    /// The caller has not joined a batch.
    case arriving
    case waiting
    /// The caller was cancelled.
    case left
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var phase = Phase.arriving
    /// The batch until it has ended.
    var batch: Batch?
    /// The first caller of the key until the batch has ended or the caller has left; nil for itself.
    var leader: BatchMember?
    /// The later callers of the key; nil if there is none.
    @usableFromInline var followers: [BatchMember]?
    /// The number of callers of the key that have not left, if this is the first one.
    var callerCount = 0
    /// The position among the arrivals of the batch, or among the followers of the first caller.
    var position = 0
  }

  /// The hash of the key.
  let hash: Int
  // The lock makes the accesses exclusive: checked, the accesses of callers and batches take a third of the time of a key.
  @exclusivity(unchecked) @usableFromInline var state = State()

  /// The later callers of the key, once the batch has ended; nil if there is none.
  @usableFromInline var followers: [BatchMember]? { self.state.followers }

  /// Whether the caller of an ended batch waits for the answer.
  @usableFromInline var isWaiting: Bool {
    if case .waiting = self.state.phase { true } else { false }
  }

  @usableFromInline
  init(hash: Int) {
    self.hash = hash
  }

  /// Whether another caller of the same batcher has an equal key.
  @usableFromInline
  func hasKey(of other: BatchMember) -> Bool { preconditionFailure("Overridden by all subclasses.") }
}

/// The first caller of a key, found by that key.
struct BatchLeader: Hashable {
  let member: BatchMember

  static func == (left: BatchLeader, right: BatchLeader) -> Bool {
    left.member === right.member || left.member.hash == right.member.hash && left.member.hasKey(of: right.member)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(self.member.hash)
  }
}
