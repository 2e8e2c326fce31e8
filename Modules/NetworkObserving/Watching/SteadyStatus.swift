#if os(Linux)
  /// A status that rises at once and falls only when it stays down for a while.
  ///
  /// Renewing a lease or changing the access point takes the network away for a moment, which is not worth telling.
  struct SteadyStatus {
    /// What has to be done about a status that was seen.
    enum Step: Hashable {
      case nothing
      /// Tell it. Whatever waits need wait no longer.
      case tell(NetworkConnectionStatus)
      /// See whether it stays like that.
      case wait
      /// It is what it was: wait no longer.
      case stopWaiting
    }

    private(set) var current: NetworkConnectionStatus
    private var lower: NetworkConnectionStatus?

    init(_ current: NetworkConnectionStatus) {
      self.current = current
    }

    mutating func see(_ status: NetworkConnectionStatus) -> Step {
      if status < self.current {
        defer { self.lower = status }
        return self.lower == nil ? .wait : .nothing
      }
      let wasWaiting = self.lower != nil
      self.lower = nil
      guard status > self.current else { return wasWaiting ? .stopWaiting : .nothing }
      self.current = status
      return .tell(status)
    }

    /// It has stayed down: returns what to tell.
    mutating func endWait() -> NetworkConnectionStatus? {
      guard let lower = self.lower else { return nil }
      self.lower = nil
      self.current = lower
      return lower
    }
  }
#endif
