#if os(Linux)
  internal import OperationEventLoop

  /// A descriptor that reports memory pressure, closed with the last reference.
  protocol PressureInput: AnyObject, Sendable {
    var descriptor: CInt { get }
    /// The events to wait for.
    var events: EventLoop.Events { get }

    /// Evaluates the events that the loop has reported.
    func read(_ events: EventLoop.Events, at time: Duration) -> PressureReading

    /// Records the current total without an event, for comparison with later events.
    func sample(at time: Duration)
  }

  extension PressureInput {
    func sample(at time: Duration) {}
  }

  /// The result of reading an input.
  enum PressureReading: Hashable, Sendable {
    case nothing
    case pressure(MemoryPressure)
    /// The descriptor reports nothing more: the group was removed, or the other side has closed its end.
    case gone
  }
#endif
