#if os(Linux)
  internal import OperationControlGroups
  internal import OperationEventLoop
  internal import Synchronization

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The counters of how often a group has met its limits.
  ///
  /// Its file is watched by `inotify`, or as a descriptor where there is no instance left for that.
  final class LimitInput: PressureInput {
    let descriptor: CInt
    let events = EventLoop.Events.urgent
    let path: String

    private let record: Mutex<LimitRecord>

    /// Nil when the group has no such file.
    init?(group: String, window: Duration) {
      self.path = group + "/memory.events"
      self.descriptor = open(self.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard self.descriptor >= 0 else { return nil }
      self.record = Mutex(LimitRecord(counts: KeyedNumbers(parsing: FileText.read(self.path) ?? ""), window: window))
      // A read makes the descriptor wait for what comes after it.
      _ = FileText.read(self.descriptor)
    }

    deinit {
      close(self.descriptor)
    }

    /// An urgent event of this kind of file comes with an error, which means nothing by itself.
    func read(_ events: EventLoop.Events, at time: Duration) -> PressureReading {
      guard events.isDisjoint(with: [.hangUp, .invalid]) else { return .gone }
      guard FileText.read(self.descriptor) != nil else { return .gone }
      return self.read(at: time)
    }

    /// Reads the file that is at the path by now.
    func read(at time: Duration) -> PressureReading {
      guard let text = FileText.read(self.path) else { return .gone }
      let pressure = self.record.withLock { $0.note(KeyedNumbers(parsing: text), at: time) }
      return pressure.map { .pressure($0) } ?? .nothing
    }
  }
#endif
