#if os(Linux)
  import Foundation
  import OperationControlGroups
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// The files of the kernel. Stalls of the processor, which are easy to cause, stand for stalls of memory.
  @Suite(.boundedBeforeOthers, .serialized, .warningsAreIssues)
  struct KernelTests {
    @Test(.enabled(if: Kernel.hasStallTriggers, "the kernel sets no trigger on /proc/pressure/cpu for this process"))
    func `A trigger needs a byte to overwrite at its end, and a descriptor has one trigger only`() throws {
      let bytes = StallThreshold.warning.bytes
      #expect(throws: SystemFailure(call: "write", code: EINVAL)) {
        _ = try StallInput(path: Kernel.processorStalls, setting: bytes.dropLast(), at: .zero)
      }
      let input = try StallInput(path: Kernel.processorStalls, setting: bytes, at: .zero)
      expect(write(input.descriptor, bytes, bytes.count), equals: -1)
      expect(errno, equals: EBUSY)
      expect(input.read([.urgent], at: .seconds(1)), equals: .nothing)
      expect(input.read([.error], at: .seconds(1)), equals: .gone)
    }

    @Test(.enabled(if: Kernel.hasStallTriggers, "the kernel sets no trigger on /proc/pressure/cpu for this process"))
    func `Stalled work is reported`() async throws {
      let tree = try FakeTree()
      try tree.writeMachine()
      try FileManager.default.createDirectory(atPath: tree.path("proc/pressure"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: tree.path("proc/pressure/memory"),
        withDestinationPath: Kernel.processorStalls
      )
      var configuration = PressureMonitor.Configuration(paths: tree.paths)
      configuration.loop = EventLoop()
      configuration.files = FileWatcher(loop: configuration.loop)
      let source = CgroupMemoryPressureSource(configuration)
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      await source.settled()
      #expect(Descriptors.count(at: Kernel.processorStalls) > 0)
      let threads = BusyThreads()
      defer { threads.end() }
      try await expect(receiver.next(), equals: .warning)
      // The stalls continue and are reported again. On a busy machine, the kernel may miss them for so long that the
      // level is normal in between.
      var level = try await receiver.next()
      if level == .normal { level = try await receiver.next() }
      expect(level, equals: .warning)
      threads.end()
      receiver.cancel()
      await source.settled()
      #expect(!configuration.loop.isRunning)
      expect(Descriptors.count(at: Kernel.processorStalls), equals: 0)
    }

    @Test(.enabled(if: Kernel.canMakeGroups, "no control group can be made in the unified hierarchy"))
    func `When the group is removed, the remaining files are watched`() async throws {
      let mount = try #require(Kernel.unifiedMount)
      let name = "pressure-\(UUID().uuidString)"
      try #require(mkdir(mount + "/" + name, 0o755) == 0)
      defer { rmdir(mount + "/" + name) }
      let tree = try FakeTree()
      try tree.writeMachine()
      try tree.write("0::/\(name)\n", to: "proc/self/cgroup")
      try tree.write("40 31 0:38 / \(mount) rw - cgroup2 cgroup2 rw\n", to: "proc/self/mountinfo")
      try tree.write("some avg10=0.00 total=0\n", to: "proc/pressure/memory")
      let isReopened = Gate()
      var configuration = PressureMonitor.Configuration(paths: tree.paths)
      configuration.loop = EventLoop()
      configuration.files = FileWatcher(loop: configuration.loop)
      configuration.intervals = PressureMonitor.Intervals(calm: .seconds(3_600), raised: .milliseconds(20))
      // The time is read at each step, also after the inputs are reopened.
      configuration.elapsed = {
        let isGone = Descriptors.count(at: mount + "/" + name) == 0
        if isGone,
          Descriptors.count(at: tree.path("proc/pressure")) + Descriptors.count(at: mount + "/memory.pressure") > 0
        {
          isReopened.open()
        }
        return SystemDeadlineSource().elapsed
      }
      let source = CgroupMemoryPressureSource(configuration)
      let receiver = LevelReceiver(source)
      await source.settled()
      try await expect(Descriptors.count(at: mount + "/" + name, on: configuration.loop), equals: 2)
      expect(rmdir(mount + "/" + name), equals: 0)
      try await isReopened.wait()
      receiver.cancel()
      await source.settled()
      #expect(!configuration.loop.isRunning)
    }

    @Test func `This machine reports a level`() async throws {
      let source = CgroupMemoryPressureSource()
      let received = Log<MemoryPressure>()
      let subscription = source.subscribe { received.append($0) }
      expect(received.all.count, equals: 1)
      subscription.cancel()
      await source.settled()
    }
  }

  /// The features of the kernel that this machine permits.
  private enum Kernel {
    static let processorStalls = "/proc/pressure/cpu"

    static let hasStallTriggers = (try? StallInput(path: Self.processorStalls, .warning, at: .zero)) != nil

    static var unifiedMount: String? {
      let mounts = MountPoint.all(parsing: FileText.read("/proc/self/mountinfo") ?? "")
      return mounts.last { $0.type == "cgroup2" }?.path
    }

    static let canMakeGroups: Bool = {
      guard let mount = Self.unifiedMount else { return false }
      let path = mount + "/probe-\(UUID().uuidString)"
      guard mkdir(path, 0o755) == 0 else { return false }
      defer { rmdir(path) }
      return (try? StallInput(path: path + "/memory.pressure", .warning, at: .zero)) != nil
    }()
  }

  /// More busy threads than there are processors. They have the lowest priority, so that other tests go on beside them.
  private final class BusyThreads: Sendable {
    private let isOver = Atomic(false)

    init() {
      for _ in 0..<3 * ProcessInfo.processInfo.activeProcessorCount {
        Thread.detachNewThread {
          setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
          while !self.isOver.load(ordering: .relaxed) {}
        }
      }
    }

    func end() {
      self.isOver.store(true, ordering: .relaxed)
    }
  }
#endif
