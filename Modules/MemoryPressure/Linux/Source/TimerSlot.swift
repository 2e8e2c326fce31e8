#if os(Linux)
  internal import OperationEventLoop

  /// A timer that takes the place of the one before it.
  ///
  /// A timer may fire, and its callback set the next one, before whoever has set it comes to keep it. So who wants to set one
  /// takes a number first, and what has an older number than the last one is not kept: it would take the place of the next.
  struct TimerSlot: Sendable {
    private var timer: EventLoop.Registration?
    private var lastNumber: UInt64 = 0

    mutating func takeNumber() -> UInt64 {
      self.lastNumber += 1
      return self.lastNumber
    }

    /// Keeps a timer, and returns the one that is to be cancelled, which may be the same.
    mutating func keep(_ timer: EventLoop.Registration, number: UInt64) -> EventLoop.Registration? {
      guard number == self.lastNumber else { return timer }
      defer { self.timer = timer }
      return self.timer
    }

    /// Takes the timer out, and keeps none whose number was taken before.
    mutating func empty() -> EventLoop.Registration? {
      self.lastNumber += 1
      defer { self.timer = nil }
      return self.timer
    }
  }
#endif
