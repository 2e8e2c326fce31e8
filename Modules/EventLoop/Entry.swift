#if os(Linux)
  /// What is registered with a loop.
  ///
  /// Its fields belong to the lock of the loop.
  final class Entry: @unchecked Sendable {
    // Unchecked because the variables are only touched under the lock of the loop.

    typealias Handler = @Sendable (EventLoop.Events) -> Void

    /// What it waits for.
    enum Source: Sendable {
      case descriptor(CInt, EventLoop.Events)
      case timer(after: Duration, every: Duration?)
    }

    let source: Source
    /// What is called; nil when the registration has ended.
    var handler: Handler?
    /// In the order of registration.
    var number: UInt64 = 0
    /// Where it is in the table or in the heap.
    var position: Int?
    /// When the time of a timer comes.
    var due = ContinuousClock.now

    init(_ source: Source, _ handler: @escaping Handler) {
      self.source = source
      self.handler = handler
    }
  }
#endif
