public import OperationCore
public import Synchronization

/// What happened to the pages of one run, in order, and who is told of it.
///
/// A store knows of runs, not of pages. So the run writes down what happens to its pages, and asks the store to have it told
/// in the order of the store's own events: whoever hands those over tells of the pages as well, one event at a time. The
/// change of the state that comes with the result of a page is told before it, and the result of the run after it.
@usableFromInline
final class PageEventLog<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Entry = PageEventEntry<PageID, PageValue, Failure>

  /// One who is told.
  @usableFromInline
  struct Reader: Sendable {
    let id: ObjectIdentifier
    let receive: @Sendable (Entry) -> Void
  }

  @usableFromInline let order: StoreEventOrder
  @usableFromInline let progress = Mutex(PageEventProgress())

  /// What was told, as far as it matters to those who come later, and behind it what is to be told. What a later yield has
  /// replaced leaves its place empty.
  // Unsafe only in name: touched by whoever holds the lock of the progress. Beside that, as letting go of a lock around
  // something of the user's types looks those up.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var entries: [Entry?] = []
  /// In the order in which they came, which is that of their registration.
  // Unsafe only in name, as the one above.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var readers: [Reader] = []

  @inlinable
  init(order: StoreEventOrder) {
    self.order = order
  }
}

// MARK: - Writing

extension PageEventLog {
  /// Tells of an event, after all that was written before.
  @inlinable
  func tell(_ entry: Entry) {
    let hasListeners = self.order.hasListeners
    guard let number = self.write(entry, hasListeners: hasListeners) else { return }
    if hasListeners { self.deliverInOrder(upTo: number) } else { self.deliver(upTo: number) }
  }

  /// Lets an event be told behind the next change of the state that the run makes, and at the latest with what is told next.
  @inlinable
  func tellWithNextChange(_ entry: Entry) {
    let hasListeners = self.order.hasListeners
    guard let number = self.write(entry, hasListeners: hasListeners), !hasListeners else { return }
    self.deliver(upTo: number)
  }

  /// Tells of a yield behind the change of the state that `change` makes, and before the result that it brings.
  @inlinable
  func tell(_ entry: Entry, with change: () -> Void) {
    let hasListeners = self.order.hasListeners
    let number = self.write(entry, hasListeners: hasListeners)
    if let number { if hasListeners { self.makeDue(upTo: number) } else { self.deliver(upTo: number) } }
    change()
    // For a change of which nobody has heard.
    if let number, hasListeners { self.deliverInOrder(upTo: number) }
  }

  /// Writes an event, and returns how many there are with it; nil when there is nobody to tell.
  @inlinable
  func write(_ entry: Entry, hasListeners: Bool) -> Int? {
    var replaced: Entry?
    let number = self.progress.withLock { progress -> Int? in
      // What a page nearly always has: a start, a result and an end.
      if self.entries.isEmpty { self.entries.reserveCapacity(3) }
      self.entries.append(entry)
      progress.written += 1
      if case .started = entry.kind { progress.pages += 1 }
      guard !hasListeners, self.readers.isEmpty, progress.told == progress.written - 1 else { return progress.written }
      _ = self.takeNext(&progress, replaced: &replaced)
      return nil
    }
    withExtendedLifetime(replaced) {}  // Until here, after the lock.
    return number
  }

  /// The entry that is to be told next, which counts as told then. Called under the lock.
  ///
  /// - Parameter replaced: Gets the entry for which that one stands as well, to be released after the lock.
  @inlinable
  func takeNext(_ progress: inout PageEventProgress, replaced: inout Entry?) -> Entry? {
    let index = self.entries.count - (progress.written - progress.told)
    progress.told += 1
    guard let entry = self.entries[index] else { return nil }
    if case .yielded = entry.kind, index > 0, case .yielded? = self.entries[index - 1]?.kind {
      replaced = self.entries[index - 1].take()
      progress.vacancies += 1
    }
    if progress.vacancies > 16, progress.vacancies > self.entries.count / 2 {
      self.entries.removeAll { $0 == nil }
      progress.vacancies = 0
    }
    return entry
  }
}

// MARK: - Telling

extension PageEventLog {
  /// Tells of what goes with the change that was made last; of all when the run has ended.
  func deliverDue(afterEnd: Bool) {
    self.deliver(upTo: afterEnd ? .max : self.progress.withLock { $0.due })
  }

  @usableFromInline
  func deliverInOrder(upTo number: Int) {
    self.order.perform { self.deliver(upTo: number) }
  }

  /// Lets what is written be told with the next change of the state.
  @usableFromInline
  func makeDue(upTo number: Int) {
    self.order.perform { self.progress.withLock { $0.due = max($0.due, number) } }
  }

  @usableFromInline
  func deliver(upTo number: Int) {
    while let (entry, readers) = self.next(upTo: number) {
      for reader in readers { reader.receive(entry) }
    }
  }

  private func next(upTo number: Int) -> (Entry, [Reader])? {
    var replaced: Entry?
    let next = self.progress.withLock { progress -> (Entry, [Reader])? in
      guard progress.told < min(number, progress.written) else { return nil }
      return self.takeNext(&progress, replaced: &replaced).map { ($0, self.readers) }
    }
    withExtendedLifetime(replaced) {}  // Until here, after the lock.
    return next
  }
}

// MARK: - Readers

extension PageEventLog {
  /// Lets a reader be told from now on, first of what others have been told, if it is to know that.
  func attach(_ id: ObjectIdentifier, withHistory: Bool, receive: @escaping @Sendable (Entry) -> Void) {
    let history = self.progress.withLock { progress -> [Entry] in
      self.readers.append(Reader(id: id, receive: receive))
      guard withHistory else { return [] }
      return self.entries.dropLast(progress.written - progress.told).compactMap { $0 }
    }
    for entry in history { receive(entry) }
  }

  func detach(_ id: ObjectIdentifier) {
    let reader = self.progress.withLock { _ in
      self.readers.firstIndex { $0.id == id }.map { self.readers.remove(at: $0) }
    }
    withExtendedLifetime(reader) {}  // Until here, after the lock.
  }

  /// How many pages the run has begun to fetch.
  var pageCount: Int { self.progress.withLock { $0.pages } }
}

/// How far the events of a run have been told.
@usableFromInline
struct PageEventProgress: Sendable {
  /// How many were written.
  @usableFromInline var written = 0
  /// How many of them have been told.
  @usableFromInline var told = 0
  /// How many may be told with the change of the state that is being told.
  @usableFromInline var due = 0
  /// How many pages were begun.
  @usableFromInline var pages = 0
  /// How many places are empty.
  @usableFromInline var vacancies = 0

  @inlinable
  init() {}
}
