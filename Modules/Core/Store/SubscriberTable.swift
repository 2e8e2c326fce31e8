import Synchronization

/// One who hears of the events of a store.
final class Subscriber<State: OperationState & Sendable>: Sendable {
  enum Role: Sendable {
    /// Counts as a subscriber: it keeps the store fresh and its automatic runs alive.
    case subscriber
    /// Listens, and counts for nothing.
    case listener
    /// Listens to one run.
    case runListener(OperationTaskIdentifier)
  }

  let id: UInt64
  let role: Role
  let handler: OperationEventHandler<State>
  /// Called when the store goes before the subscriber does.
  let onStoreGone: (@Sendable () -> Void)?
  private let isCancelled = Atomic(false)

  init(
    id: UInt64,
    role: Role,
    handler: OperationEventHandler<State>,
    onStoreGone: (@Sendable () -> Void)?
  ) {
    self.id = id
    self.role = role
    self.handler = handler
    self.onStoreGone = onStoreGone
  }

  /// No event is handed over from now on.
  func cancel() {
    self.isCancelled.store(true, ordering: .releasing)
  }

  func receive(_ event: StoreEvent<State>, in context: OperationContext) {
    guard !self.isCancelled.load(ordering: .acquiring) else { return }
    switch event {
    case .stateChanged(let state): self.handler.onStateChanged?(state, context)
    case .runStarted: self.handler.onRunStarted?(context)
    case .runEnded: self.handler.onRunEnded?(context)
    case .resultReceived(let result): self.handler.onResultReceived?(result, context)
    }
  }

  func hears(of run: OperationTaskIdentifier?) -> Bool {
    if case .runListener(let id) = self.role { id == run } else { true }
  }
}

/// The subscribers of a store in the order in which they came. Adding and removing take constant amortized time.
struct SubscriberTable<State: OperationState & Sendable> {
  private(set) var slots: ContiguousArray<Subscriber<State>?> = []
  private var vacancies = 0
  /// How many count as subscribers.
  private(set) var count = 0
  /// The identifier that the next one gets; all that are there have smaller ones.
  private(set) var nextID: UInt64 = 0

  var isEmpty: Bool { self.slots.count == self.vacancies }

  mutating func add(
    _ handler: OperationEventHandler<State>,
    role: Subscriber<State>.Role,
    onStoreGone: (@Sendable () -> Void)? = nil
  ) -> Subscriber<State> {
    let subscriber = Subscriber(id: self.nextID, role: role, handler: handler, onStoreGone: onStoreGone)
    self.nextID += 1
    self.slots.append(subscriber)
    if case .subscriber = role { self.count += 1 }
    return subscriber
  }

  /// Removes a subscriber. False when it is not there.
  mutating func remove(_ subscriber: Subscriber<State>) -> Bool {
    guard let index = self.index(of: subscriber) else { return false }
    if case .subscriber = subscriber.role { self.count -= 1 }
    if index == self.slots.count - 1 {
      self.slots.removeLast()
    } else {
      self.slots[index] = nil
      self.vacancies += 1
    }
    if self.vacancies > 16, self.vacancies > self.slots.count / 2 {
      self.slots.removeAll { $0 == nil }
      self.vacancies = 0
    }
    return true
  }

  mutating func removeAll() -> [Subscriber<State>] {
    defer {
      self.slots = []
      self.vacancies = 0
      self.count = 0
    }
    return self.slots.compactMap { $0 }
  }

  private func index(of subscriber: Subscriber<State>) -> Int? {
    // The identifiers ascend, with vacancies between them.
    var low = 0
    var high = self.slots.count
    while low < high {
      let middle = (low + high) / 2
      var probe = middle
      while probe < high, self.slots[probe] == nil { probe += 1 }
      guard probe < high, let found = self.slots[probe] else {
        high = middle
        continue
      }
      if found === subscriber { return probe }
      if found.id < subscriber.id { low = probe + 1 } else { high = middle }
    }
    return nil
  }
}
