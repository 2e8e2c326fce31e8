public import OperationCore
public import Synchronization

/// The page events of one run, in order, and the readers that are notified of them.
///
/// A store has events of runs, not of pages. So a run records the events of its pages here and lets the store deliver
/// them in the order of its own events: the thread that delivers the store's events delivers the page events as well,
/// one at a time. The state change that a page's result makes is delivered before that result, the result of the run
/// after it.
@usableFromInline
final class PageEventLog<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Entry = PageEventEntry<PageID, PageValue, Failure>

  /// A callback that receives the entries.
  @usableFromInline
  struct Reader: Sendable {
    let id: ObjectIdentifier
    let receive: @Sendable (Entry) -> Void
  }

  /// The state that the lock guards.
  @usableFromInline
  struct State: Sendable {
    /// The delivered entries that a later reader may need, and behind them those that are to be delivered.
    ///
    /// A yield is nil when a later yield of its page has replaced it.
    @usableFromInline var entries: [Entry?] = []
    /// In the order in which they were attached, in which they were registered with the store.
    @usableFromInline var readers: [Reader] = []
    /// The number of entries that were written.
    @usableFromInline var written = 0
    /// The number of entries that were delivered.
    @usableFromInline var delivered = 0
    /// The number of entries that may be delivered with the state change that is being delivered.
    @usableFromInline var due = 0
    /// The number of pages that the run has begun to fetch.
    @usableFromInline var pages = 0
    /// The number of nil entries.
    @usableFromInline var vacancies = 0

    @inlinable
    init() {}

    /// Takes the next entry to deliver, and counts it as delivered.
    ///
    /// - Parameter replaced: Set to the entry that the returned one replaces, which is released after unlocking.
    /// - Returns: The entry; nil if a later yield of its page has replaced it.
    @inlinable
    mutating func takeNext(replaced: inout Entry?) -> Entry? {
      let index = self.entries.count - (self.written - self.delivered)
      self.delivered += 1
      guard let entry = self.entries[index] else { return nil }
      if case .yielded = entry.kind, index > 0, case .yielded? = self.entries[index - 1]?.kind {
        replaced = self.entries[index - 1].take()
        self.vacancies += 1
      }
      if self.vacancies > 16, self.vacancies > self.entries.count / 2 {
        self.entries.removeAll { $0 == nil }
        self.vacancies = 0
      }
      return entry
    }
  }

  @usableFromInline let order: StoreEventOrder

  @usableFromInline let lock = Mutex(())
  // Unsafe because the compiler does not see that `withState` holds the lock. The state lies next to the lock, not in
  // it: releasing a `Mutex` of a generic type looks up the metadata of its types. The lock makes the accesses
  // exclusive, too: checked, the accesses of runs and logs take 740 of the 32,500 instructions of a page.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var state = State()

  @inlinable
  init(order: StoreEventOrder) {
    self.order = order
  }

  /// Runs `body`, which must not call user code or release user values, with the lock held.
  @inlinable
  @inline(__always)
  func withState<R: Sendable>(_ body: (inout State) -> R) -> R {
    self.lock.withLock { _ in body(&self.state) }
  }
}

// MARK: - Writing

extension PageEventLog {
  /// Notifies the readers of an event, after all entries that were written before.
  @inlinable
  func notify(_ entry: Entry) {
    let hasListeners = self.order.hasListeners
    guard let number = self.write(entry, hasListeners: hasListeners) else { return }
    if hasListeners { self.deliverInOrder(upTo: number) } else { self.deliver(upTo: number) }
  }

  /// Notifies the readers of an event after the next state change of the run, or earlier, with the next notification.
  @inlinable
  func notifyWithNextChange(_ entry: Entry) {
    let hasListeners = self.order.hasListeners
    guard let number = self.write(entry, hasListeners: hasListeners), !hasListeners else { return }
    self.deliver(upTo: number)
  }

  /// Notifies the readers of a yield, after the state change that `change` makes and before the result of the run.
  @inlinable
  func notify(_ entry: Entry, with change: () -> Void) {
    let hasListeners = self.order.hasListeners
    let number = self.write(entry, hasListeners: hasListeners)
    if let number { if hasListeners { self.makeDue(upTo: number) } else { self.deliver(upTo: number) } }
    change()
    // Needed when the store delivers no result for the change.
    if let number, hasListeners { self.deliverInOrder(upTo: number) }
  }

  /// Appends an entry, and returns how many were written. Returns nil when the entry needs no delivery.
  @inlinable
  func write(_ entry: Entry, hasListeners: Bool) -> Int? {
    var replaced: Entry?
    let number = self.withState { state -> Int? in
      // Most runs fetch one page, which has a start, a result and an end.
      if state.entries.isEmpty { state.entries.reserveCapacity(3) }
      state.entries.append(entry)
      state.written += 1
      if case .started = entry.kind { state.pages += 1 }
      guard !hasListeners, state.readers.isEmpty, state.delivered == state.written - 1 else { return state.written }
      _ = state.takeNext(replaced: &replaced)
      return nil
    }
    withExtendedLifetime(replaced) {}  // Released after unlocking.
    return number
  }
}

// MARK: - Delivering

extension PageEventLog {
  /// Delivers the entries that belong to the last state change, or all entries after the end of the run.
  func deliverDue(afterEnd: Bool) {
    self.deliver(upTo: afterEnd ? .max : self.withState { $0.due })
  }

  /// Delivers the entries of the pages that have ended, when an attempt has failed.
  ///
  /// The next attempt may have begun a page already. Its entries come after the event of the failed attempt.
  func deliverBeforeNextStart() {
    while let (entry, readers) = self.next(upTo: .max, stopsAtStart: true) {
      for reader in readers { reader.receive(entry) }
    }
  }

  @usableFromInline
  func deliverInOrder(upTo number: Int) {
    self.order.perform { self.deliver(upTo: number) }
  }

  /// Lets the entries be delivered with the next state change.
  @usableFromInline
  func makeDue(upTo number: Int) {
    self.order.perform { self.withState { $0.due = max($0.due, number) } }
  }

  @usableFromInline
  func deliver(upTo number: Int) {
    while let (entry, readers) = self.next(upTo: number) {
      for reader in readers { reader.receive(entry) }
    }
  }

  private func next(upTo number: Int, stopsAtStart: Bool = false) -> (Entry, [Reader])? {
    var replaced: Entry?
    let next = self.withState { state -> (Entry, [Reader])? in
      guard state.delivered < min(number, state.written) else { return nil }
      if stopsAtStart, case .started? = state.entries[state.entries.count - (state.written - state.delivered)]?.kind {
        return nil
      }
      return state.takeNext(replaced: &replaced).map { ($0, state.readers) }
    }
    withExtendedLifetime(replaced) {}  // Released after unlocking.
    return next
  }
}

// MARK: - Readers

extension PageEventLog {
  /// Attaches a reader that receives all later entries, after those already delivered if `withHistory` is true.
  func attach(_ id: ObjectIdentifier, withHistory: Bool, receive: @escaping @Sendable (Entry) -> Void) {
    let history = self.withState { state -> [Entry] in
      state.readers.append(Reader(id: id, receive: receive))
      guard withHistory else { return [] }
      return state.entries.dropLast(state.written - state.delivered).compactMap { $0 }
    }
    for entry in history { receive(entry) }
  }

  func detach(_ id: ObjectIdentifier) {
    let reader = self.withState { state in
      state.readers.firstIndex { $0.id == id }.map { state.readers.remove(at: $0) }
    }
    withExtendedLifetime(reader) {}  // Released after unlocking.
  }

  /// The number of pages that the run has begun to fetch.
  var pageCount: Int { self.withState { $0.pages } }
}
