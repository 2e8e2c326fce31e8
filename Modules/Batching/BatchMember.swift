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
  // The lock makes accesses exclusive, so that they need no check: see `BatchIndex` for the figure.
  @exclusivity(unchecked) var phase = Phase.arriving
  /// The batch until it has ended.
  @exclusivity(unchecked) var batch: Batch?
  /// The first caller of the key until the batch has ended or the caller has left; nil for itself.
  @exclusivity(unchecked) var leader: BatchMember?
  /// The later callers of the key; nil if there is none.
  @exclusivity(unchecked) @usableFromInline var followers: [BatchMember]?
  /// The number of callers of the key that have not left, if this is the first one.
  @exclusivity(unchecked) var callerCount = 0

  /// Whether the caller of an ended batch waits for the answer.
  @usableFromInline var isWaiting: Bool {
    if case .waiting = self.phase { true } else { false }
  }

  @usableFromInline
  init(hash: Int) {
    self.hash = hash
  }
}
