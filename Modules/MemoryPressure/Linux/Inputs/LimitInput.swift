#if os(Linux)
  internal import OperationControlGroups
  internal import OperationEventLoop
  internal import Synchronization
  internal import OperationPlatform

  /// The counters that say how often a group has reached its limits.
  ///
  /// The file is watched with `inotify`, or with its descriptor if no `inotify` instance is available.
  final class LimitInput: PressureInput {
    let descriptor: CInt
    let events = EventLoop.Events.urgent
    let path: String

    private let record: Mutex<LimitRecord>

    /// Nil if the group has no such file.
    init?(group: String, window: Duration) {
      self.path = group + "/memory.events"
      self.descriptor = open(self.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard self.descriptor >= 0 else { return nil }
      self.record = Mutex(LimitRecord(counts: KeyedNumbers(parsing: FileText.read(self.path) ?? ""), window: window))
      // After a read, the descriptor reports only later changes.
      _ = FileText.read(self.descriptor)
    }

    deinit {
      close(self.descriptor)
    }

    /// Ignores errors: the kernel sets `error` together with `urgent` for this kind of file.
    func read(_ events: EventLoop.Events, at time: Duration) -> PressureReading {
      guard events.isDisjoint(with: [.hangUp, .invalid]) else { return .gone }
      guard FileText.read(self.descriptor) != nil else { return .gone }
      return self.read(at: time)
    }

    /// Reads the file that is now at the path, which may be another one than the open file.
    func read(at time: Duration) -> PressureReading {
      guard let text = FileText.read(self.path) else { return .gone }
      let pressure = self.record.withLock { $0.note(KeyedNumbers(parsing: text), at: time) }
      return pressure.map { .pressure($0) } ?? .nothing
    }
  }
#endif
