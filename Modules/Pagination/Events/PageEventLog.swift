public import OperationCore
public import Synchronization

/// Something that happened to one page.
enum PageEvent<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  case started(PageID)
  case result(PageID, Result<Page<PageID, PageValue>, Failure>)
  case ended(PageID)
}

/// What happened to the pages of one run, in order, and who reads it.
///
/// A store knows of runs, not of pages. So the run writes down what happens to its pages, and each handler reads on in the log
/// when something was written and before it hears of the next event of the run: it hears of all in the right order.
@usableFromInline
final class PageEventLog<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  typealias Event = PageEvent<PageID, PageValue, Failure>

  /// An event. It has a place for all that one can have, as letting go of an enumeration of the user's types looks those up.
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline let kind: PageEventKind
    @usableFromInline let id: PageID
    @usableFromInline let value: PageValue?
    @usableFromInline let error: Failure?

    @inlinable
    init(_ kind: PageEventKind, of id: PageID, value: PageValue? = nil, error: Failure? = nil) {
      self.kind = kind
      self.id = id
      self.value = value
      self.error = error
    }

    /// Why there is a result, if it is one.
    var reason: OperationResultUpdateReason? {
      if case .result(let reason) = self.kind { reason } else { nil }
    }

    var event: Event {
      switch self.kind {
      case .started: .started(self.id)
      case .ended: .ended(self.id)
      case .result:
        if let error = self.error {
          .result(self.id, .failure(error))
        } else if let value = self.value {
          .result(self.id, .success(Page(id: self.id, value: value)))
        } else {
          preconditionFailure("A result has a value or an error.")
        }
      }
    }
  }

  @usableFromInline let readers = Mutex(PageEventReaders())

  // Unsafe only in name: touched by whoever holds the lock of the readers. Beside that, as letting go of a lock around
  // something of the user's types looks those up.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var entries: [Entry] = []

  @inlinable
  init() {}

  @inlinable
  func post(_ entry: Entry) {
    let readers = self.readers.withLock { readers in
      // What a page nearly always has: a start, a result and an end.
      if self.entries.isEmpty { self.entries.reserveCapacity(3) }
      self.entries.append(entry)
      return readers.all
    }
    for reader in readers { reader.readOn() }
  }

  @inlinable
  func post(_ result: Result<Page<PageID, PageValue>, Failure>, of id: PageID, _ reason: OperationResultUpdateReason) {
    switch result {
    case .success(let page): self.post(Entry(.result(reason), of: id, value: page.value))
    case .failure(let error): self.post(Entry(.result(reason), of: id, error: error))
    }
  }

  var count: Int { self.readers.withLock { _ in self.entries.count } }

  /// The entry at a position, if there is one yet.
  func entry(at position: Int) -> Entry? {
    self.readers.withLock { _ in position < self.entries.count ? self.entries[position] : nil }
  }

  /// Lets a reader know of what is written from now on.
  func attach(_ id: ObjectIdentifier, readOn: @escaping @Sendable () -> Void) {
    self.readers.withLock { readers in
      guard !readers.all.contains(where: { $0.id == id }) else { return }
      readers.all.append((id, readOn))
    }
  }

  func detach(_ id: ObjectIdentifier) {
    let reader = self.readers.withLock { readers in
      readers.all.firstIndex { $0.id == id }.map { readers.all.remove(at: $0) }
    }
    _ = consume reader  // Released after the lock.
  }
}

/// What has happened to a page.
@usableFromInline
enum PageEventKind: Sendable {
  case started
  case result(OperationResultUpdateReason)
  case ended
}

/// Who reads on in a log.
@usableFromInline
struct PageEventReaders: Sendable {
  /// In the order in which they came, which is that of their registration.
  @usableFromInline var all: [(id: ObjectIdentifier, readOn: @Sendable () -> Void)] = []

  @inlinable
  init() {}
}
