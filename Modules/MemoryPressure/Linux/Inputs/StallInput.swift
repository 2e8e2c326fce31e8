#if os(Linux)
  internal import OperationControlGroups
  internal import OperationEventLoop
  internal import Synchronization

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// A trigger on a pressure file: the kernel tells when tasks have stood still for too long.
  final class StallInput: PressureInput {
    let descriptor: CInt
    let events = EventLoop.Events.urgent

    private let pressure: MemoryPressure
    /// What judges whether the kernel speaks the truth; nil where what is set is not known.
    private let record: Mutex<StallRecord?>

    /// Sets a trigger.
    ///
    /// - Parameters:
    ///   - path: The pressure file.
    ///   - bytes: What sets the trigger, which is not nothing.
    ///   - time: The present.
    init(path: String, setting bytes: [UInt8], at time: Duration) throws(SystemError) {
      let threshold = StallThreshold(parsing: bytes)
      let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError("open") }
      // Read before the trigger is set, which may fire at once for what has been before.
      let total = threshold.flatMap { threshold in
        FileText.read(descriptor).flatMap { StallTotals(parsing: $0)?[threshold.kind] }
      }
      guard write(descriptor, bytes, bytes.count) == bytes.count else {
        let error = SystemError("write")
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

    convenience init(path: String, _ threshold: StallThreshold, at time: Duration) throws(SystemError) {
      try self.init(path: path, setting: threshold.bytes, at: time)
    }

    deinit {
      close(self.descriptor)
    }

    func read(_ events: EventLoop.Events, at time: Duration) -> PressureReading {
      // Unlike other files of a control group, this one is in error only when its group is gone.
      guard events.isDisjoint(with: [.error, .hangUp, .invalid]) else { return .gone }
      guard events.contains(.urgent) else { return .nothing }
      return self.isConfirmed(at: time) ? .pressure(self.pressure) : .nothing
    }

    func look(at time: Duration) {
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

  /// A call to the system that has failed.
  struct SystemError: Error, Hashable {
    let call: String
    let code: CInt

    /// Whether something is short that may be there again in a moment: descriptors or memory.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(self.code) }

    /// The call that has just failed.
    init(_ call: String, code: CInt = errno) {
      self.call = call
      self.code = code
    }
  }
#endif
