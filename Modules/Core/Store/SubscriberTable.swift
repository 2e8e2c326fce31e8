public import Synchronization

/// One who hears of the events of a store.
@usableFromInline
final class Subscriber<State: OperationState & Sendable>: Sendable {
  @usableFromInline
  enum Role: Sendable {
    /// Counts as a subscriber: it keeps the store fresh and its automatic runs alive.
    case subscriber
    /// Listens, and counts for nothing.
    case listener
    /// Listens to one run.
    case runListener(OperationTaskIdentifier)
  }

  @usableFromInline let id: UInt64
  @usableFromInline let role: Role
  @usableFromInline let handler: OperationEventHandler<State>
  /// Called when the store goes before the subscriber does.
  @usableFromInline let onStoreGone: (@Sendable () -> Void)?
  @usableFromInline let isCancelled = Atomic(false)
  /// Where it is in its table, which alone reads and writes it.
  @usableFromInline let position: Atomic<Int>

  @inlinable
  init(
    id: UInt64,
    role: Role,
    position: Int,
    handler: OperationEventHandler<State>,
    onStoreGone: (@Sendable () -> Void)?
  ) {
    self.id = id
    self.position = Atomic(position)
    self.role = role
    self.handler = handler
    self.onStoreGone = onStoreGone
  }

  /// No event is handed over from now on.
  @inlinable
  func cancel() {
    self.isCancelled.store(true, ordering: .releasing)
  }

  @inlinable
  func receive(_ state: State, _ context: OperationContext) {
    guard let onStateChanged = self.handler.onStateChanged, !self.hasLeft else { return }
    onStateChanged(state, context)
  }

  @inlinable
  func receive(_ result: Result<State.OperationValue, State.Failure>, _ context: OperationContext) {
    guard let onResultReceived = self.handler.onResultReceived, !self.hasLeft else { return }
    onResultReceived(result, context)
  }

  @inlinable
  func receive(_ lifecycle: StoreChange.Lifecycle, _ context: OperationContext) {
    guard !self.hasLeft else { return }
    switch lifecycle {
    case .started: self.handler.onRunStarted?(context)
    case .ended: self.handler.onRunEnded?(context)
    }
  }

  @inlinable
  var hasLeft: Bool { self.isCancelled.load(ordering: .acquiring) }

  @inlinable
  func receivesEvents(of run: OperationTaskIdentifier?) -> Bool {
    if case .runListener(let id) = self.role { id == run } else { true }
  }
}

/// The subscribers of a store in the order in which they came. Adding and removing take constant amortized time.
@usableFromInline
struct SubscriberTable<State: OperationState & Sendable>: Sendable {
  @usableFromInline var slots: ContiguousArray<Subscriber<State>?> = []
  /// The identifier that the next one gets; all that are there have smaller ones.
  @usableFromInline var nextID: UInt64 = 0
  @usableFromInline var vacancies: Int32 = 0
  @usableFromInline var memberCount: Int32 = 0

  @inlinable
  init() {}

  /// How many count as subscribers.
  @inlinable
  var count: Int { Int(self.memberCount) }

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

  /// Removes a subscriber. False when it is not there.
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
      self.closeUp()
    }
    return true
  }

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

  @inlinable
  mutating func closeUp() {
    self.slots.removeAll { $0 == nil }
    self.vacancies = 0
    for case (let position, .some(let subscriber)) in self.slots.enumerated() {
      subscriber.position.store(position, ordering: .relaxed)
    }
  }
}
