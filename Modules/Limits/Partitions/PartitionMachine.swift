package import OperationCore

/// Permits with guaranteed and borrowed shares, and the waiters of each partition.
///
/// A partition that uses fewer permits than it has reserved always finds a free one. Partitions that use fewer permits
/// than they are guaranteed come before partitions that borrow. Within each of these two groups, the partition that uses
/// the smallest part of its share comes first. If several use an equal part, the one that began its last run earliest
/// comes first. The runs of one partition are ordered by a ``WaiterLines``.
package struct PartitionMachine: LimitMachine {
  private struct Partition: Sendable {
    let name: String
    var share: PartitionShare
    var isListed: Bool
    var inUse = 0
    var lines: WaiterLines
    /// The number of the last run that has begun; 0 before the first one.
    var lastTurn: UInt64 = 0

    var unusedReserve: Int { max(self.share.reserved - self.inUse, 0) }
    var isIdle: Bool { self.inUse == 0 && self.lines.count == 0 }
  }

  /// The number of permits of all partitions together.
  package private(set) var limit: Int
  package private(set) var inUse = 0
  package private(set) var waiterCount = 0
  package private(set) var rejections = 0
  package private(set) var maximumWaiting: Int
  package private(set) var shares: [String: PartitionShare]
  package private(set) var others: PartitionShare
  private let order: LimitOrder
  /// The partitions. One that is not listed gives its place up when it has no run.
  private var partitions: [Partition] = []
  private var slots: [String: Int] = [:]
  private var freeSlots: [Int] = []
  /// The partitions with waiters that may have another permit, and those of them with a permit that is reserved.
  private var turnsOfAll = IndexedHeap<PartitionTurn>()
  private var turnsOfReserves = IndexedHeap<PartitionTurn>()
  private var lengths = IndexedHeap<PartitionLength>()
  /// The reserved permits that are not in use, which are kept free.
  private var unusedReserve = 0
  /// The number of runs that have begun.
  private var turns: UInt64 = 0
  private var dues = DeadlineHeap<LimitWaiter>()
  package var decided: [LimitWaiter] = []

  package init(
    limit: Int,
    shares: [String: PartitionShare],
    others: PartitionShare,
    maximumWaiting: Int,
    order: LimitOrder = .firstComeFirstServed
  ) {
    self.limit = limit
    self.shares = shares
    self.others = others
    self.maximumWaiting = maximumWaiting
    self.order = order
    for (name, share) in shares.sorted(by: { $0.key < $1.key }) { _ = self.add(name, share, isListed: true) }
  }

  package var firstWaiter: LimitWaiter? { self.partitions.first { $0.lines.count > 0 }?.lines.first }

  package var alarm: (due: Duration, deadlines: any DeadlineSource)? {
    guard let first = self.dues.first, let due = first.due else { return nil }
    return (due, first.deadlines)
  }

  /// The numbers of the partitions that are listed or have runs, by name.
  package var uses: [PartitionedLimitSnapshot.Partition] {
    self.slots.sorted { $0.key < $1.key }.map { name, slot in
      let partition = self.partitions[slot]
      return PartitionedLimitSnapshot.Partition(
        name: name,
        guaranteed: partition.share.guaranteed,
        active: partition.inUse,
        waiting: partition.lines.count
      )
    }
  }

  /// The number of the partition of a run, which gives its permit back with it.
  package func slot(of waiter: LimitWaiter) -> Int { waiter.slot }

  /// The name of the partition of a run that has a permit or waits.
  package func name(of waiter: LimitWaiter) -> String { self.partitions[waiter.slot].name }

  /// The numbers of a partition.
  package func use(of name: String) -> (active: Int, waiting: Int) {
    self.slots[name].map { (self.partitions[$0].inUse, self.partitions[$0].lines.count) } ?? (0, 0)
  }
}

// MARK: - Partitions

extension PartitionMachine {
  private mutating func add(_ name: String, _ share: PartitionShare, isListed: Bool) -> Int {
    let partition = Partition(name: name, share: share, isListed: isListed, lines: WaiterLines(order: self.order))
    let slot: Int
    if let free = self.freeSlots.popLast() {
      slot = free
      self.partitions[slot] = partition
    } else {
      slot = self.partitions.count
      self.partitions.append(partition)
    }
    self.slots[name] = slot
    self.unusedReserve += partition.unusedReserve
    return slot
  }

  private mutating func slot(of name: String) -> Int {
    self.slots[name] ?? self.add(name, self.others, isListed: false)
  }

  private mutating func dropIfIdle(_ slot: Int) {
    let partition = self.partitions[slot]
    guard !partition.isListed, partition.isIdle, self.slots[partition.name] == slot else { return }
    self.slots[partition.name] = nil
    self.freeSlots.append(slot)
    self.unusedReserve -= partition.unusedReserve
  }

  private mutating func change(_ slot: Int, by number: Int) {
    self.unusedReserve -= self.partitions[slot].unusedReserve
    self.partitions[slot].inUse += number
    if number > 0 {
      self.turns += 1
      self.partitions[slot].lastTurn = self.turns
    }
    self.unusedReserve += self.partitions[slot].unusedReserve
    self.inUse += number
    self.updateTurn(of: slot)
  }

  /// Changes the place of a partition in the order of turns, after its waiters, its use or its share have changed.
  private mutating func updateTurn(of slot: Int) {
    let partition = self.partitions[slot]
    let first = partition.inUse < partition.share.maximum ? partition.lines.first : nil
    let turn = first.map { first in
      PartitionTurn(
        isBelowGuarantee: partition.inUse < partition.share.guaranteed,
        inUse: partition.inUse,
        weight: max(partition.share.guaranteed, 1),
        lastTurn: partition.lastTurn,
        arrival: first.arrival,
        slot: slot
      )
    }
    self.turnsOfAll.set(turn, for: slot)
    self.turnsOfReserves.set(partition.unusedReserve > 0 ? turn : nil, for: slot)
    let count = partition.lines.count
    self.lengths.set(count > 0 ? PartitionLength(count: count, slot: slot) : nil, for: slot)
  }

  /// Whether a run of a partition may begin: a permit is free, and not reserved for another partition.
  private func mayBegin(_ slot: Int) -> Bool {
    let partition = self.partitions[slot]
    guard self.inUse < self.limit, partition.inUse < partition.share.maximum else { return false }
    return partition.unusedReserve > 0 || self.limit - self.inUse > self.unusedReserve
  }
}

// MARK: - Permits

extension PartitionMachine {
  /// Takes a permit unless none is free for the partition.
  ///
  /// - Parameter name: The name of the partition.
  /// - Returns: The number to give the permit back with; nil if none is free.
  package mutating func take(for name: String) -> Int? {
    let slot = self.slot(of: name)
    guard self.partitions[slot].lines.count == 0, self.mayBegin(slot) else {
      self.dropIfIdle(slot)
      return nil
    }
    self.change(slot, by: 1)
    return slot
  }

  /// Returns a permit, which goes to the partition that has the first claim.
  package mutating func giveBack(_ slot: Int, at now: Duration) {
    self.change(slot, by: -1)
    self.admitWaiters(at: now)
    self.dropIfIdle(slot)
  }

  /// Adds a waiter to its partition, or returns a decision about it.
  package mutating func join(_ waiter: LimitWaiter, to name: String, at now: Duration) -> LimitWaiter.Decision? {
    let slot = self.slot(of: name)
    waiter.slot = slot
    return self.join(waiter, at: now)
  }

  package mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
    let slot = waiter.slot
    if self.partitions[slot].lines.count == 0, self.mayBegin(slot) {
      self.change(slot, by: 1)
      return .admitted
    }
    if let due = waiter.due, due <= now { return self.refuse(slot) }
    var victim: LimitWaiter?
    if self.waiterCount >= self.maximumWaiting {
      victim = self.maximumWaiting > 0 ? self.victim(for: waiter, at: now) : nil
      if victim == nil { return self.refuse(slot) }
    }
    self.partitions[slot].lines.append(waiter, at: now)
    self.updateTurn(of: slot)
    self.waiterCount += 1
    if waiter.due != nil { self.dues.insert(waiter) }
    // Afterwards, so that the partition is not dropped in between.
    if let victim { self.reject(victim) }
    return nil
  }

  private mutating func refuse(_ slot: Int) -> LimitWaiter.Decision {
    self.rejections += 1
    self.dropIfIdle(slot)
    return .rejected(retryAfter: nil)
  }

  package mutating func remove(_ waiter: LimitWaiter) {
    guard self.partitions.indices.contains(waiter.slot) else { return }
    self.dues.remove(waiter)
    guard self.partitions[waiter.slot].lines.remove(waiter) else { return }
    self.waiterCount -= 1
    self.updateTurn(of: waiter.slot)
    self.dropIfIdle(waiter.slot)
  }

  package mutating func wake(at now: Duration) {
    while let first = self.dues.first, let due = first.due, due <= now { self.reject(first) }
  }

  private mutating func reject(_ waiter: LimitWaiter) {
    self.remove(waiter)
    self.rejections += 1
    self.decide(.rejected(retryAfter: nil), for: waiter)
  }
}

// MARK: - Turns

extension PartitionMachine {
  private mutating func admitWaiters(at now: Duration) {
    var dropped: [LimitWaiter] = []
    while self.waiterCount > 0, let slot = self.nextSlot {
      let waiter = self.partitions[slot].lines.popNext(at: now, dropping: &dropped)
      self.waiterCount -= dropped.count + (waiter == nil ? 0 : 1)
      self.updateTurn(of: slot)
      // They are no longer in their lines, so their partitions stay.
      for waiter in dropped { self.reject(waiter) }
      dropped.removeAll()
      guard let waiter else { continue }
      self.dues.remove(waiter)
      self.change(slot, by: 1)
      self.decide(.admitted, for: waiter)
    }
  }

  /// The partition with a waiter whose turn it is; nil if none may begin.
  private var nextSlot: Int? {
    guard self.inUse < self.limit else { return nil }
    return self.limit - self.inUse > self.unusedReserve ? self.turnsOfAll.first : self.turnsOfReserves.first
  }

  /// The run that gives its place to a new one where all places are taken; nil if the new one is rejected.
  private func victim(for waiter: LimitWaiter, at now: Duration) -> LimitWaiter? {
    let own = self.partitions[waiter.slot].lines
    let longest = self.lengths.first.map { self.partitions[$0] }
    guard let longest, longest.lines.count > own.count + 1 else { return own.victim(for: waiter, at: now) }
    return longest.lines.leastImportant
  }
}

// MARK: - Other settings

/// What an update may change of a partitioned limit.
struct PartitionSettings: Sendable {
  let limit: Int
  let shares: [String: PartitionShare]
  let others: PartitionShare
  let maximumWaiting: Int
}

extension PartitionMachine {
  var settings: PartitionSettings {
    PartitionSettings(
      limit: self.limit,
      shares: self.shares,
      others: self.others,
      maximumWaiting: self.maximumWaiting
    )
  }

  /// Changes the settings. Permits in use stay with their partitions, and waiters in their lines.
  package mutating func update(
    limit: Int,
    shares: [String: PartitionShare],
    others: PartitionShare,
    maximumWaiting: Int,
    at now: Duration
  ) {
    self.limit = limit
    self.shares = shares
    self.others = others
    self.maximumWaiting = maximumWaiting
    for slot in self.slots.values {
      let share = shares[self.partitions[slot].name]
      self.partitions[slot].share = share ?? others
      self.partitions[slot].isListed = share != nil
    }
    for (name, share) in shares.sorted(by: { $0.key < $1.key }) where self.slots[name] == nil {
      _ = self.add(name, share, isListed: true)
    }
    self.unusedReserve = self.slots.values.reduce(0) { $0 + self.partitions[$1].unusedReserve }
    for slot in self.slots.values { self.updateTurn(of: slot) }
    self.admitWaiters(at: now)
    for slot in Array(self.slots.values) { self.dropIfIdle(slot) }
  }
}
