#if os(Linux)
  /// Combines marks and the state of the terminal into one value: whether the process is active.
  ///
  /// Mutating methods return the values to send, in order.
  struct ActivityState: Hashable, Sendable {
    let options: SignalActivityObserver.Options
    /// Whether the program or a signal has marked the process inactive.
    private(set) var isMarkedInactive = false
    /// Whether the process is in the foreground of its terminal; nil without a terminal.
    private(set) var isForeground: Bool?
    /// The last value that was returned for sending.
    private(set) var reported = true

    init(options: SignalActivityObserver.Options) {
      self.options = options
    }

    private var isActive: Bool {
      if self.isMarkedInactive { return false }
      return self.options.contains(.countsBackgroundAsActive) || self.isForeground != false
    }
  }

  extension ActivityState {
    /// Returns the value before watching begins. Marks stay, and what was observed earlier is discarded.
    mutating func reset(isForeground: Bool?) -> Bool {
      self.isForeground = isForeground
      self.reported = self.isActive
      return self.reported
    }

    /// Stores a mark set by the program or by a signal.
    mutating func mark(isInactive: Bool) -> [Bool] {
      self.isMarkedInactive = isInactive
      return self.change()
    }

    /// Stores whether the process is in the foreground of its terminal. Coming to the foreground reruns stale values
    /// even if the background counts as active.
    mutating func update(isForeground: Bool?) -> [Bool] {
      let hasComeForward = self.isForeground == false && isForeground == true
      self.isForeground = isForeground
      let change = self.change()
      return change.isEmpty && hasComeForward ? self.pulse() : change
    }

    /// Records that the process continues after a stop, a freeze or a sleep of the machine.
    ///
    /// If the process is active before and after, returns inactive and active, so that stale values are rerun.
    mutating func resume(isForeground: Bool?) -> [Bool] {
      self.isForeground = isForeground
      let change = self.change()
      return change.isEmpty ? self.pulse() : change
    }

    private func pulse() -> [Bool] {
      self.reported ? [false, true] : []
    }

    private mutating func change() -> [Bool] {
      guard self.isActive != self.reported else { return [] }
      self.reported = self.isActive
      return [self.reported]
    }
  }
#endif
