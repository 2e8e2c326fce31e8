#if os(Linux)
  /// A status that rises at once, and falls only after it has stayed lower for a while.
  ///
  /// The renewal of a lease or a change of the access point interrupts the network for a moment, which is not reported.
  struct SteadyStatus {
    /// What to do after a new status.
    enum Step: Hashable {
      case nothing
      /// Report the status, and stop any wait.
      case report(NetworkConnectionStatus)
      /// Wait, to see whether the status stays lower.
      case wait
      /// Stop the wait: the status is what it was before.
      case stopWaiting
    }

    private(set) var current: NetworkConnectionStatus
    private var lower: NetworkConnectionStatus?

    init(_ current: NetworkConnectionStatus) {
      self.current = current
    }

    mutating func update(_ status: NetworkConnectionStatus) -> Step {
      if status < self.current {
        defer { self.lower = status }
        return self.lower == nil ? .wait : .nothing
      }
      let wasWaiting = self.lower != nil
      self.lower = nil
      guard status > self.current else { return wasWaiting ? .stopWaiting : .nothing }
      self.current = status
      return .report(status)
    }

    /// Called when the status has stayed lower; returns the status to report.
    mutating func endWait() -> NetworkConnectionStatus? {
      guard let lower = self.lower else { return nil }
      self.lower = nil
      self.current = lower
      return lower
    }
  }
#endif
