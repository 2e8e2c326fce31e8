/// What decides which of the partitions with waiters gets the next permit: the smallest one.
struct PartitionTurn: Comparable, Sendable {
  let isBelowGuarantee: Bool
  let inUse: Int
  /// The number by which the use is divided to compare partitions.
  let weight: Int
  /// The number of the last run that has begun; 0 before the first one.
  let lastTurn: UInt64
  /// The elapsed time at which the first waiter came.
  let arrival: Duration
  let slot: Int

  static func < (one: Self, other: Self) -> Bool {
    if one.isBelowGuarantee != other.isBelowGuarantee { return one.isBelowGuarantee }
    // Compared as products, so that nothing is rounded.
    let (use, otherUse) = (one.inUse * other.weight, other.inUse * one.weight)
    if use != otherUse { return use < otherUse }
    // By turns: where permits are fewer than partitions, a long line would come first otherwise.
    if one.lastTurn != other.lastTurn { return one.lastTurn < other.lastTurn }
    return (one.arrival, one.slot) < (other.arrival, other.slot)
  }
}

/// The place of a partition among those with waiters, the longest lines first.
struct PartitionLength: Comparable, Sendable {
  let count: Int
  let slot: Int

  static func < (one: Self, other: Self) -> Bool {
    one.count == other.count ? one.slot < other.slot : one.count > other.count
  }
}
