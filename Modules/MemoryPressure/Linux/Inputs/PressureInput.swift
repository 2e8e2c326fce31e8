#if os(Linux)
  internal import OperationEventLoop

  /// A descriptor that tells of memory pressure. It is closed with the last reference.
  protocol PressureInput: AnyObject, Sendable {
    var descriptor: CInt { get }
    /// What the loop waits for.
    var events: EventLoop.Events { get }

    /// Reads what the loop has found.
    func read(_ events: EventLoop.Events, at time: Duration) -> PressureReading

    /// Looks without having been called, so that it can be told later what is new.
    func look(at time: Duration)
  }

  extension PressureInput {
    func look(at time: Duration) {}
  }

  /// What has been found.
  enum PressureReading: Hashable, Sendable {
    case nothing
    case pressure(MemoryPressure)
    /// The descriptor tells nothing any more: the group is gone, or the other side has hung up.
    case gone
  }
#endif
