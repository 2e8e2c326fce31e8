internal import OperationCore

/// Which runs hold which categories, and which wait for them.
///
/// - A run takes all of its categories in one decision, so that runs with the same categories in any order never wait
///   for each other in a cycle.
/// - In each category runs are admitted in the order in which they came. A run does not block
///   the runs inside of it, as it ends after them.
/// - A run inside of a holder may use the categories of that holder. Of several such runs, one at a time does.
///
/// It is a value without a lock; ``ExclusionLock`` adds one. It never has the last reference to a scope.
struct ExclusionMachine {
  struct Lane {
    /// The innermost holder.
    var holder: RunScope?
    /// The holders around it, outermost first.
    var outerHolders: [RunScope] = []
    var queue = TicketQueue<ExclusionWaiter>()
    /// The waiters of the queue that are inside of holders.
    var nested = TicketQueue<ExclusionWaiter>()
    /// The number of waiters in the queue that wait for other categories, too.
    var compoundWaiterCount = 0
  }

  /// A waiter to resume after unlocking.
  typealias Resumption = Waiter<ExclusionOutcome>.Resumption

  private(set) var lanes: ContiguousArray<Lane> = []
  private var freeSlots: [Int] = []
  private var lastTicket: UInt64 = 0
  /// The number of waiters inside of holders.
  private var nestedCount = 0
  /// The waiters inside of holders that wait only because of the waiters before them.
  private var followers = TicketQueue<ExclusionWaiter>()
  /// The number of runs that wait.
  private(set) var waiterCount = 0

  /// The number of categories in use.
  var laneCount: Int { self.lanes.count - self.freeSlots.count }

  /// The number of categories that a run holds.
  var heldCount: Int { self.lanes.count { $0.holder != nil } }
}

/// How a wait for categories has ended.
enum ExclusionOutcome: Sendable {
  /// The run holds its categories.
  case admitted
  /// The run was cancelled and has left.
  case left
  /// The run has waited for as long as it may, and has left.
  case timedOut
  /// The wait would never end: these operations wait for each other.
  case cycle(WaitCycle)
}

/// A run that waits for categories.
final class ExclusionWaiter: Sendable {
  struct State {
    var waiter = Waiter<ExclusionOutcome>.arriving
    var ticket: UInt64 = 0
    /// Whether the scope was inside of a holder when the waiter was enqueued, or has come to be since.
    var isNested = false
    /// The scopes that the waiter is inside of, which know it.
    var scopesAround: [RunScope] = []
  }

  let scope: RunScope
  let slots: [Int]
  /// The names of the categories, in the order of the slots.
  let categories: [String]
  // Unsafe because the compiler does not see that the lock of the exclusion machine guards it.
  nonisolated(unsafe) var state = State()

  init(scope: RunScope, slots: [Int], categories: [String] = []) {
    self.scope = scope
    self.slots = slots
    self.categories = categories
  }

  /// The name of the category with a slot.
  func category(in slot: Int) -> String {
    self.slots.firstIndex(of: slot).flatMap { $0 < self.categories.count ? self.categories[$0] : nil } ?? ""
  }

  var isWaiting: Bool { self.state.waiter.outcome == nil }
}

// MARK: - Lanes

extension ExclusionMachine {
  mutating func addLane() -> Int {
    if let slot = self.freeSlots.popLast() { return slot }
    self.lanes.append(Lane())
    return self.lanes.count - 1
  }

  mutating func removeLane(_ slot: Int) {
    self.freeSlots.append(slot)
  }
}

// MARK: - Taking and giving back

extension ExclusionMachine {
  /// Takes all categories if that needs no waiting.
  mutating func tryAcquire(_ scope: RunScope, _ slots: [Int]) -> Bool {
    for slot in slots {
      guard self.lanes[slot].queue.isEmpty else { return false }
      if let holder = self.lanes[slot].holder, !scope.isInside(holder) { return false }
    }
    for slot in slots { self.push(scope, slot) }
    return true
  }

  /// Enqueues a waiter, which may be admitted at once.
  mutating func enqueue(_ waiter: ExclusionWaiter) -> [Resumption] {
    self.lastTicket += 1
    self.waiterCount += 1
    waiter.state.ticket = self.lastTicket
    for slot in waiter.slots { self.lanes[slot].queue.append(waiter, ticket: waiter.state.ticket) }
    if waiter.slots.count > 1 { for slot in waiter.slots { self.lanes[slot].compoundWaiterCount += 1 } }
    self.locate(waiter)
    return self.admit(waiter.slots, waiter.state.isNested ? [waiter] : [])
  }

  /// Removes a waiter that was cancelled. A waiter that was admitted stays admitted.
  mutating func leave(_ waiter: ExclusionWaiter, with outcome: ExclusionOutcome = .left) -> [Resumption] {
    guard waiter.isWaiting else { return [] }
    let resumption = self.decide(waiter, outcome)
    return (resumption.map { [$0] } ?? []) + self.admit(waiter.slots)
  }

  /// Gives the categories back, and admits those whose turn it is.
  mutating func release(_ scope: RunScope, _ slots: [Int]) -> [Resumption] {
    scope.state.isHolding = false
    var mayAdmit = self.nestedCount > 0
    for slot in slots {
      self.pop(scope, slot)
      if !self.lanes[slot].queue.isEmpty { mayAdmit = true }
    }
    return mayAdmit ? self.admit(slots) : []
  }

  /// Records that `scope` cannot end before `others`, which may then use the categories that it holds.
  mutating func adopt(_ others: [RunScope], by scope: RunScope) -> [Resumption] {
    for other in others { other.state.waitingScopes.append(scope) }
    let waiters = others.flatMap(\.state.waitersInside.all)
    for waiter in waiters { self.locate(waiter) }
    return self.admit([], waiters.filter(\.state.isNested))
  }

  /// Takes one ``adopt(_:by:)`` back.
  mutating func abandon(_ others: [RunScope], by scope: RunScope) {
    for other in others {
      let waitingScopes = other.state.waitingScopes
      guard let index = waitingScopes.firstIndex(where: { $0 === scope }) else { continue }
      other.state.waitingScopes.remove(at: index)
      for waiter in other.state.waitersInside.all { self.locate(waiter) }
    }
  }

  /// Notes which scopes a waiter is inside of.
  private mutating func locate(_ waiter: ExclusionWaiter) {
    self.forgetLocation(of: waiter)
    let ticket = waiter.state.ticket
    waiter.state.scopesAround = waiter.scope.selfAndAround
    for scope in waiter.state.scopesAround { scope.state.waitersInside.insert(waiter, ticket: ticket) }
    guard !waiter.state.isNested, waiter.scope.isInsideHolder else { return }
    waiter.state.isNested = true
    self.nestedCount += 1
    for slot in waiter.slots { self.lanes[slot].nested.insert(waiter, ticket: ticket) }
  }

  private func forgetLocation(of waiter: ExclusionWaiter) {
    for scope in waiter.state.scopesAround { _ = scope.state.waitersInside.remove(waiter.state.ticket) }
    waiter.state.scopesAround = []
  }

  private mutating func push(_ scope: RunScope, _ slot: Int) {
    if let holder = self.lanes[slot].holder { self.lanes[slot].outerHolders.append(holder) }
    self.lanes[slot].holder = scope
    scope.state.isHolding = true
  }

  private mutating func pop(_ scope: RunScope, _ slot: Int) {
    if self.lanes[slot].holder === scope {
      self.lanes[slot].holder = self.lanes[slot].outerHolders.popLast()
    } else {
      // A run inside of this one has outlived it.
      self.lanes[slot].outerHolders.removeAll { $0 === scope }
    }
  }
}

// MARK: - Admitting

extension ExclusionMachine {
  /// Admits the waiters whose turn it is after a change of the lanes `slots`, or of what waits inside of what.
  ///
  /// Only what the change can let in is looked at: `changed`, the waiters inside of the holders of these lanes, and
  /// those that wait only because of others. One decision may lead to another one.
  ///
  /// - Complexity: O(1) for runs of one category inside of a holder, which run one after another.
  private mutating func admit(_ slots: [Int], _ changed: [ExclusionWaiter] = []) -> [Resumption] {
    var resumptions: [Resumption] = []
    self.admitFirst(slots, &resumptions)
    guard self.nestedCount > 0 else { return resumptions }
    var (slots, changed, isSettled) = (slots, changed, false)
    while !isSettled {
      var decided: [Int] = []
      for waiter in changed { self.settle(waiter, &decided, &resumptions) }
      for slot in slots { self.settleNested(slot, &decided, &resumptions) }
      for waiter in self.followers.all { self.settle(waiter, &decided, &resumptions) }
      (slots, changed, isSettled) = (decided, [], decided.isEmpty)
    }
    return resumptions
  }

  /// Looks at the waiters of a lane that are inside of holders, until the lane has a holder with none of them inside.
  private mutating func settleNested(_ slot: Int, _ decided: inout [Int], _ resumptions: inout [Resumption]) {
    var ticket: UInt64 = 0
    while self.lanes[slot].holder?.state.waitersInside.isEmpty != true,
      let waiter = self.lanes[slot].nested.first(after: ticket)
    {
      ticket = waiter.state.ticket
      self.settle(waiter, &decided, &resumptions)
    }
  }

  /// Admits a waiter inside of a holder, or ends its wait because of a cycle, if it is time.
  private mutating func settle(
    _ waiter: ExclusionWaiter,
    _ decided: inout [Int],
    _ resumptions: inout [Resumption]
  ) {
    guard waiter.isWaiting else { return }
    let outcome: ExclusionOutcome
    if self.canEnter(waiter) {
      outcome = .admitted
    } else if let cycle = self.cycle(of: waiter) {
      outcome = .cycle(cycle)
    } else {
      let isBlocked = waiter.slots.contains { slot in
        self.lanes[slot].holder.map { !waiter.scope.isInside($0) } ?? false
      }
      _ = self.followers.remove(waiter.state.ticket)
      if !isBlocked { self.followers.insert(waiter, ticket: waiter.state.ticket) }
      return
    }
    decided += waiter.slots
    if let resumption = self.decide(waiter, outcome) { resumptions.append(resumption) }
    self.admitFirst(waiter.slots, &resumptions)
  }

  /// Admits the first waiters of the lanes that are free.
  private mutating func admitFirst(_ slots: [Int], _ resumptions: inout [Resumption]) {
    for slot in slots {
      while let first = self.lanes[slot].queue.first, self.isFirstEverywhere(first) {
        if let resumption = self.decide(first, .admitted) { resumptions.append(resumption) }
      }
    }
  }

  private func isFirstEverywhere(_ waiter: ExclusionWaiter) -> Bool {
    waiter.slots.allSatisfy { self.lanes[$0].holder == nil && self.lanes[$0].queue.firstTicket == waiter.state.ticket }
  }

  /// Removes a waiter from the queues, with an outcome. Returns its resumption if it is suspended.
  private mutating func decide(_ waiter: ExclusionWaiter, _ outcome: ExclusionOutcome) -> Resumption? {
    for slot in waiter.slots { _ = self.lanes[slot].queue.remove(waiter.state.ticket) }
    if waiter.slots.count > 1 { for slot in waiter.slots { self.lanes[slot].compoundWaiterCount -= 1 } }
    self.forgetLocation(of: waiter)
    if waiter.state.isNested {
      self.nestedCount -= 1
      for slot in waiter.slots { _ = self.lanes[slot].nested.remove(waiter.state.ticket) }
      _ = self.followers.remove(waiter.state.ticket)
    }
    self.waiterCount -= 1
    if case .admitted = outcome {
      for slot in waiter.slots { self.push(waiter.scope, slot) }
    }
    return waiter.state.waiter.decide(outcome)
  }
}
