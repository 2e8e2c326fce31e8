internal import Synchronization

/// The subscribers of a store in the order in which they were added. Adding and removing take constant amortized time.
struct SubscriberTable: Sendable {
  enum Role: Sendable {
    /// Counts as a subscriber: automatic runs are started for it, and it keeps them alive.
    case subscriber
    /// A subscriber with a name.
    case namedSubscriber(SubscriberName)
    /// Receives all events but does not count as a subscriber.
    case listener
    /// Receives the events of one run and does not count as a subscriber.
    case runListener(OperationTaskIdentifier)

    /// The name of the subscriber; nil for none.
    var text: String? {
      if case .namedSubscriber(let name) = self { name.text } else { nil }
    }

    /// Whether automatic runs are started for the subscriber.
    fileprivate var isMember: Bool {
      switch self {
      case .subscriber, .namedSubscriber: true
      case .listener, .runListener: false
      }
    }
  }

  struct Slot: Sendable {
    /// Nil when the subscriber was removed.
    var subscriber: Subscriber?
    /// Increases in the order in which subscribers are added.
    let number: UInt64
    let role: Role

    /// Whether the subscriber receives the events of `run`; nil stands for events outside runs.
    func receivesEvents(of run: OperationTaskIdentifier?) -> Bool {
      if case .runListener(let id) = self.role { id == run } else { true }
    }
  }

  private(set) var slots: ContiguousArray<Slot> = []
  /// The number of the next subscriber, greater than all numbers in the table.
  private(set) var nextNumber: UInt64 = 0
  /// The number of slots without a subscriber.
  private var vacancies: Int32 = 0
  /// The number of subscribers with or without a name.
  private var memberCount: Int32 = 0

  /// The number of subscribers for which automatic runs are started.
  var count: Int { Int(self.memberCount) }

  /// The names of the subscribers in the order in which they were added; nil for a subscriber without a name.
  var names: [SubscriberName?] {
    self.slots.compactMap { slot in
      guard slot.subscriber != nil, slot.role.isMember else { return nil }
      if case .namedSubscriber(let name) = slot.role { return .some(name) } else { return .some(nil) }
    }
  }

  /// The role of a subscriber for which automatic runs are started; nil for other subscribers.
  func role(of subscriber: Subscriber) -> Role? {
    guard let index = self.index(of: subscriber), self.slots[index].role.isMember else { return nil }
    return self.slots[index].role
  }

  /// Whether there are no subscribers of any role.
  var isEmpty: Bool { self.slots.count == Int(self.vacancies) }

  /// Adds a subscriber, which is in no other table. One that is in this table has two slots until the older is removed.
  mutating func add(_ subscriber: Subscriber, role: Role) {
    subscriber.position.store(self.slots.count, ordering: .relaxed)
    self.slots.append(Slot(subscriber: subscriber, number: self.nextNumber, role: role))
    self.nextNumber += 1
    if role.isMember { self.memberCount += 1 }
  }

  /// Removes the last slot of a subscriber. Returns false when it is not in the table.
  mutating func remove(_ subscriber: Subscriber) -> Bool {
    guard let index = self.index(of: subscriber) else { return false }
    self.removeSlot(at: index)
    return true
  }

  /// The number of the last slot of a subscriber; nil when it is not in the table.
  func slotNumber(of subscriber: Subscriber) -> UInt64? { self.index(of: subscriber).map { self.slots[$0].number } }

  /// Removes the slot with a number, if it is there. O(log *n*).
  mutating func remove(slot number: UInt64) {
    var (low, high) = (0, self.slots.count)
    while low < high {
      let middle = (low + high) / 2
      if self.slots[middle].number < number { low = middle + 1 } else { high = middle }
    }
    guard low < self.slots.count, self.slots[low].number == number, self.slots[low].subscriber != nil else { return }
    self.removeSlot(at: low)
  }

  @inline(__always)
  private mutating func removeSlot(at index: Int) {
    if self.slots[index].role.isMember { self.memberCount -= 1 }
    if index == self.slots.count - 1 {
      self.slots.removeLast()
    } else {
      self.slots[index].subscriber = nil
      self.vacancies += 1
    }
    if self.vacancies > 16, Int(self.vacancies) > self.slots.count / 2 {
      self.compact()
    }
  }

  /// Whether a subscriber is in the table.
  func contains(_ subscriber: Subscriber) -> Bool { self.index(of: subscriber) != nil }

  /// Removes and returns all subscribers.
  mutating func removeAll() -> [Subscriber] {
    defer {
      self.slots = []
      self.vacancies = 0
      self.memberCount = 0
    }
    return self.slots.compactMap(\.subscriber)
  }

  /// The subscribers with or without a name.
  var members: [Subscriber] { self.slots.compactMap { $0.role.isMember ? $0.subscriber : nil } }

  private func index(of subscriber: Subscriber) -> Int? {
    let position = subscriber.position.load(ordering: .relaxed)
    guard self.slots.indices.contains(position) else { return nil }
    return self.slots[position].subscriber === subscriber ? position : nil
  }

  /// Removes the empty slots.
  private mutating func compact() {
    self.slots.removeAll { $0.subscriber == nil }
    self.vacancies = 0
    // Of two slots of a subscriber the last counts.
    for (position, slot) in self.slots.enumerated() {
      slot.subscriber?.position.store(position, ordering: .relaxed)
    }
  }
}
