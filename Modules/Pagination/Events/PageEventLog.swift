internal import OperationCore
internal import Synchronization

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
final class PageEventLog<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  typealias Event = PageEvent<PageID, PageValue, Failure>

  struct Entry: Sendable {
    let event: Event
    /// Why there is a result, if it is one.
    let reason: OperationResultUpdateReason?
  }

  private struct State {
    var entries: [Entry] = []
    /// In the order in which they came, which is that of their registration.
    var readers: [(id: ObjectIdentifier, readOn: @Sendable () -> Void)] = []
  }

  private let state = Mutex(State())

  func post(_ event: Event, _ reason: OperationResultUpdateReason? = nil) {
    let readers = self.state.withLock { state in
      state.entries.append(Entry(event: event, reason: reason))
      return state.readers
    }
    for reader in readers { reader.readOn() }
  }

  var count: Int { self.state.withLock { $0.entries.count } }

  /// The entry at a position, if there is one yet.
  func entry(at position: Int) -> Entry? {
    self.state.withLock { position < $0.entries.count ? $0.entries[position] : nil }
  }

  /// Lets a reader know of what is written from now on.
  func attach(_ id: ObjectIdentifier, readOn: @escaping @Sendable () -> Void) {
    self.state.withLock { state in
      guard !state.readers.contains(where: { $0.id == id }) else { return }
      state.readers.append((id, readOn))
    }
  }

  func detach(_ id: ObjectIdentifier) {
    let reader = self.state.withLock { state in
      state.readers.firstIndex { $0.id == id }.map { state.readers.remove(at: $0) }
    }
    _ = consume reader  // Released after the lock.
  }
}
