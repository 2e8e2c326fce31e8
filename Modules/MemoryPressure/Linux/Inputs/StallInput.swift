#if os(Linux)
  internal import OperationControlGroups
  internal import OperationEventLoop
  internal import Synchronization
  internal import OperationPlatform

  /// A trigger on a pressure file: the kernel reports when tasks have waited for memory for too long.
  final class StallInput: PressureInput {
    let descriptor: CInt
    let events = EventLoop.Events.urgent

    private let pressure: MemoryPressure
    /// Checks events against the totals; nil if the trigger or the total is unknown, so that every event counts.
    private let record: Mutex<StallRecord?>

    /// Sets a trigger.
    ///
    /// - Parameters:
    ///   - path: The pressure file.
    ///   - bytes: The bytes that set the trigger, not empty.
    ///   - time: The current time.
    /// - Throws: The system call that has failed: `open` or `write`.
    init(path: String, setting bytes: [UInt8], at time: Duration) throws(SystemFailure) {
      let threshold = StallThreshold(parsing: bytes)
      let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemFailure(call: "open", code: errno) }
      // Read before the trigger is set: the trigger may fire at once for earlier stalls.
      let total = threshold.flatMap { threshold in
        FileText.read(descriptor).flatMap { StallTotals(parsing: $0)?[threshold.kind] }
      }
      guard write(descriptor, bytes, bytes.count) == bytes.count else {
        let error = SystemFailure(call: "write", code: errno)
        close(descriptor)
        throw error
      }
      self.descriptor = descriptor
      self.pressure = threshold?.kind.pressure ?? .warning
      if let threshold, let total {
        self.record = Mutex(StallRecord(threshold: threshold, total: total, at: time))
      } else {
        self.record = Mutex(nil)
      }
    }

    convenience init(path: String, _ threshold: StallThreshold, at time: Duration) throws(SystemFailure) {
      try self.init(path: path, setting: threshold.bytes, at: time)
    }

    deinit {
      close(self.descriptor)
    }

    func read(_ events: EventLoop.Events, at time: Duration) -> PressureReading {
      // Unlike with other files of a control group, an error here always means that the group was removed.
      guard events.isDisjoint(with: [.error, .hangUp, .invalid]) else { return .gone }
      guard events.contains(.urgent) else { return .nothing }
      return self.isConfirmed(at: time) ? .pressure(self.pressure) : .nothing
    }

    func sample(at time: Duration) {
      _ = self.isConfirmed(at: time)
    }

    private func isConfirmed(at time: Duration) -> Bool {
      guard let kind = self.record.withLock({ $0?.threshold.kind }) else { return true }
      guard let total = FileText.read(self.descriptor).flatMap({ StallTotals(parsing: $0)?[kind] }) else {
        return false
      }
      return self.record.withLock { $0?.note(total: total, at: time) } ?? true
    }
  }
#endif
