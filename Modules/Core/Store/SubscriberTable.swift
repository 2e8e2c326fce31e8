public import Synchronization

/// The subscribers of a store in the order in which they were added. Adding and removing take constant amortized time.
@usableFromInline
struct SubscriberTable<State: OperationState & Sendable>: Sendable {
  /// The subscribers, with nil for each one that was removed.
  @usableFromInline var slots: ContiguousArray<Subscriber<State>?> = []
  /// The identifier of the next subscriber, greater than all identifiers in the table.
  @usableFromInline var nextID: UInt64 = 0
  /// The number of slots that are nil.
  @usableFromInline var vacancies: Int32 = 0
  /// The number of subscribers with the role `subscriber`.
  @usableFromInline var memberCount: Int32 = 0

  @inlinable
  init() {}

  /// The number of subscribers with the role `subscriber`.
  @inlinable
  var count: Int { Int(self.memberCount) }

  /// Whether there are no subscribers of any role.
  @inlinable
  var isEmpty: Bool { self.slots.count == Int(self.vacancies) }

  @inlinable
  mutating func add(
    _ handler: OperationEventHandler<State>,
    role: Subscriber<State>.Role,
    onStoreGone: (@Sendable () -> Void)? = nil
  ) -> Subscriber<State> {
    let subscriber = Subscriber(
      id: self.nextID,
      role: role,
      position: self.slots.count,
      handler: handler,
      onStoreGone: onStoreGone
    )
    self.nextID += 1
    self.slots.append(subscriber)
    if case .subscriber = role { self.memberCount += 1 }
    return subscriber
  }

  /// Removes a subscriber. Returns false when it is not in the table.
  @inlinable
  mutating func remove(_ subscriber: Subscriber<State>) -> Bool {
    guard let index = self.index(of: subscriber) else { return false }
    if case .subscriber = subscriber.role { self.memberCount -= 1 }
    if index == self.slots.count - 1 {
      self.slots.removeLast()
    } else {
      self.slots[index] = nil
      self.vacancies += 1
    }
    if self.vacancies > 16, Int(self.vacancies) > self.slots.count / 2 {
      self.compact()
    }
    return true
  }

  /// Removes and returns all subscribers.
  @inlinable
  mutating func removeAll() -> [Subscriber<State>] {
    defer {
      self.slots = []
      self.vacancies = 0
      self.memberCount = 0
    }
    return self.slots.compactMap { $0 }
  }

  @inlinable
  func index(of subscriber: Subscriber<State>) -> Int? {
    let position = subscriber.position.load(ordering: .relaxed)
    return position < self.slots.count && self.slots[position] === subscriber ? position : nil
  }

  /// Removes the empty slots.
  @inlinable
  mutating func compact() {
    self.slots.removeAll { $0 == nil }
    self.vacancies = 0
    for case (let position, .some(let subscriber)) in self.slots.enumerated() {
      subscriber.position.store(position, ordering: .relaxed)
    }
  }
}
