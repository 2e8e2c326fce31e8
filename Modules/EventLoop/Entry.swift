#if os(Linux)
  internal import OperationCore

  /// A registration of a loop: a descriptor or a timer.
  ///
  /// Its fields are guarded by the lock of the loop.
  final class Entry: @unchecked Sendable {
    // Unchecked because the variables are only accessed with the lock of the loop held.

    typealias Handler = @Sendable (EventLoop.Events) -> Void

    /// The event that triggers the callback.
    enum Source: Sendable {
      case descriptor(CInt, EventLoop.Events)
      case timer(after: Duration, every: Duration?)
    }

    let source: Source
    /// The callback; nil when the registration has ended.
    var handler: Handler?
    /// Counts up with each registration.
    var number: UInt64 = 0
    /// The index in the poll table or in the timer heap; nil while in neither.
    var position: Int?
    /// When the timer fires next.
    var due = ContinuousClock.now

    init(_ source: Source, _ handler: @escaping Handler) {
      self.source = source
      self.handler = handler
    }
  }

  extension Entry: DeadlineHeapElement {
    // Of two timers that are due at the same time, the one that was registered first fires first.
    func isEarlier(than other: Entry) -> Bool {
      (self.due, self.number) < (other.due, other.number)
    }
  }
#endif
