/// A caller that waits for a key, without the types of the key and the value. The lock of its batcher guards it.
///
/// The first caller of a key leads: the later ones are its followers.
@usableFromInline
class BatchMember: @unchecked Sendable {
  // Unchecked because the lock of the batcher guards the variables.

  @usableFromInline
  enum Phase: Sendable {
    /// The caller has not joined a batch.
    case arriving
    case waiting
    /// The caller was cancelled.
    case left
  }

  let hash: Int
  var phase = Phase.arriving
  /// The batch until it has ended.
  var batch: Batch?
  /// The first caller of the key; nil for itself.
  weak var leader: BatchMember?
  /// The later callers of the key.
  @usableFromInline var followers: [BatchMember] = []
  /// The number of callers of the key that have not left, if this is the first one.
  var callerCount = 0
  /// The next leader whose key has the same hash.
  var nextOfHash: BatchMember?

  /// Whether the caller of an ended batch waits for the answer.
  @usableFromInline var isWaiting: Bool {
    if case .waiting = self.phase { true } else { false }
  }

  @usableFromInline
  init(hash: Int) {
    self.hash = hash
  }
}
