package import OperationCore
import Synchronization

/// Manual time for simulations with very many deadlines, which a test advances from one deadline to the next.
package final class EventClock: DeadlineSource {
  private final class Entry: DeadlineHeapElement {
    let due: Duration
    let number: UInt64
    let action: @Sendable () -> Void
    var position: Int?

    init(due: Duration, number: UInt64, action: @escaping @Sendable () -> Void) {
      self.due = due
      self.number = number
      self.action = action
    }

    func isEarlier(than other: Entry) -> Bool { (self.due, self.number) < (other.due, other.number) }
  }

  private struct State {
    var elapsed = Duration.zero
    var heap = DeadlineHeap<Entry>()
    var lastNumber: UInt64 = 0
  }

  private struct Reference: @unchecked Sendable {
    // Unchecked because the lock of the clock guards the entry.
    let entry: Entry
  }

  private let state = Mutex(State())

  package init() {}

  package var elapsed: Duration { self.state.withLock { $0.elapsed } }

  package func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    let reference = self.state.withLock { state -> Reference in
      state.lastNumber += 1
      let due = state.elapsed + max(duration, .zero)
      let entry = Entry(due: due, number: state.lastNumber, action: action)
      state.heap.insert(entry)
      return Reference(entry: entry)
    }
    return OperationSubscription { [weak self] in
      self?.state.withLock { $0.heap.remove(reference.entry) }
    }
  }

  /// Advances to the next deadline up to a time, and performs its action.
  ///
  /// - Returns: Whether there was one. Without one, the clock is at the time.
  package func advance(upTo end: Duration) -> Bool {
    let action = self.state.withLock { state -> (@Sendable () -> Void)? in
      guard let entry = state.heap.first, entry.due <= end else {
        state.elapsed = max(state.elapsed, end)
        return nil
      }
      state.heap.remove(entry)
      state.elapsed = max(state.elapsed, entry.due)
      return entry.action
    }
    action?()
    return action != nil
  }
}
