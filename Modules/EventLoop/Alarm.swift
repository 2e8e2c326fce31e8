#if os(Linux)
  package import OperationCore

  /// One deadline that can be moved.
  package final class Alarm: Sendable {
    private struct State {
      var version: UInt64 = 0
      var deadline: OperationSubscription?
    }

    private let deadlines: any DeadlineSource
    private let state = Locked(State())

    package init(_ deadlines: any DeadlineSource) {
      self.deadlines = deadlines
    }

    /// Calls `action` after `delay`, and no longer what was set before.
    package func set(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
      let version = self.renew()
      let deadline = self.deadlines.schedule(after: delay) { [weak self] in
        guard let self, self.isCurrent(version) else { return }
        action()
        self.end(version)
      }
      let isObsolete = self.state.withLock { state in
        guard state.version == version else { return true }
        state.deadline = deadline
        return false
      }
      if isObsolete { deadline.cancel() }
    }

    /// Calls nothing any more. Where the deadlines are those of a loop, it waits for what is being called.
    package func cancel() {
      _ = self.renew()
    }

    private func renew() -> UInt64 {
      let (version, deadline) = self.state.withLock { state in
        state.version += 1
        return (state.version, state.deadline.take())
      }
      deadline?.cancel()
      return version
    }

    private func isCurrent(_ version: UInt64) -> Bool {
      self.state.withLock { $0.version == version }
    }

    private func end(_ version: UInt64) {
      self.state.withLock { state, released in
        guard state.version == version else { return }
        state.version += 1
        released.append(state.deadline.take())
      }
    }
  }
#endif
