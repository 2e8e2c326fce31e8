#if os(Linux)
  package import OperationCore

  /// One deadline that can be moved.
  package final class Alarm: Sendable {
    private let deadlines: any DeadlineSource
    private let slot = Locked(SubscriptionSlot())

    package init(_ deadlines: any DeadlineSource) {
      self.deadlines = deadlines
    }

    /// Calls `action` after `delay`, in place of the action that was set before.
    package func set(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
      let (number, previous) = self.slot.withLock { slot in
        let previous = slot.clear()
        return (slot.reserve(), previous)
      }
      previous?.cancel()
      let deadline = self.deadlines.schedule(after: delay) { [weak self] in
        guard let self, self.slot.withLock({ $0.isCurrent(number) }) else { return }
        action()
        self.end(number)
      }
      self.slot.withLock { $0.keep(deadline, number: number) }?.cancel()
    }

    /// Cancels the action. If the deadlines are timers of an event loop, waits for an action that is running.
    package func cancel() {
      self.slot.withLock { $0.clear() }?.cancel()
    }

    private func end(_ number: UInt64) {
      self.slot.withLock { slot, released in
        if slot.isCurrent(number) { released.append(slot.clear()) }
      }
    }
  }
#endif
