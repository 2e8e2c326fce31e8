#if os(Linux)
  import Glibc
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// A service manager that hangs up, and the other inputs.
  @Suite(.bounded, .warningsAreIssues)
  struct LostInputTests {
    private let tree: FakeTree
    private let clock = ManualClock()
    private let server: SocketServer
    private let configuration: PressureMonitor.Configuration

    init() throws {
      self.tree = try FakeTree()
      try self.tree.writeMachine()
      try self.tree.writeUnified(group: "/own")
      try self.tree.writeGroup("/own", current: 10, max: 100)
      try self.tree.writeEvents("/own")
      try self.tree.write("", to: "unified/own/memory.pressure")
      self.server = try SocketServer(path: self.tree.path("socket"))
      var paths = self.tree.paths
      paths.environment["MEMORY_PRESSURE_WATCH"] = self.tree.path("socket")
      paths.environment["MEMORY_PRESSURE_WRITE"] = "aGVsbG8="
      var configuration = PressureMonitor.Configuration(paths: paths)
      configuration.loop = EventLoop()
      configuration.files = FileWatcher(loop: configuration.loop)
      configuration.elapsed = { [clock = self.clock] in clock.elapsed }
      self.configuration = configuration
    }

    /// Accepts the connection of the source, and hangs up. The source has hung up, too, when this returns.
    private func acceptAndHangUp() async throws {
      let peer = try await self.server.accept()
      expect(peer.receive(), equals: "hello")
      peer.endSending()
      #expect(peer.receive().isEmpty)
      peer.close()
    }

    @Test func `The events of the group are received as before`() async throws {
      var configuration = self.configuration
      configuration.intervals = PressureMonitor.Intervals(calm: .milliseconds(5), raised: .seconds(3_600))
      let source = CgroupMemoryPressureSource(configuration)
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      try await self.acceptAndHangUp()
      try self.tree.write("\(90 << 20)\n", to: "unified/own/memory.current")
      try await expect(receiver.next(), equals: .warning)
      try self.tree.writeEvents("/own", oomKill: 1)
      try await expect(receiver.next(), equals: .critical)
      receiver.cancel()
      await source.settled()
      #expect(!configuration.loop.isRunning)
      expect(Descriptors.count(at: self.tree.root), equals: 0)
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN])
    func `A source that could not be opened for a shortage is opened later`(code: CInt) async throws {
      var configuration = self.configuration
      configuration.intervals = PressureMonitor.Intervals(calm: .milliseconds(5), raised: .milliseconds(5))
      let (refusals, isRefused) = (Log<StallSource>(), Gate())
      configuration.open = { source, time throws(SystemFailure) in
        // The first attempt for each of the three sources fails.
        guard refusals.all.count >= 3 else {
          refusals.append(source)
          isRefused.open()
          throw SystemFailure(call: "socket", code: code)
        }
        return try source.inputs(at: time)
      }
      let source = CgroupMemoryPressureSource(configuration)
      let receiver = LevelReceiver(source)
      try await isRefused.wait()
      self.clock.advance(by: .seconds(1))
      let peer = try await self.server.accept()
      expect(peer.receive(), equals: "hello")
      receiver.cancel()
      await source.settled()
      peer.close()
      #expect(!configuration.loop.isRunning)
    }

    @Test func `A socket that hangs up twice is replaced with the triggers of the group`() async throws {
      let isWatched = Gate()
      var configuration = self.configuration
      configuration.intervals = PressureMonitor.Intervals(calm: .milliseconds(5), raised: .milliseconds(5))
      // The time is read at each step, also after the inputs are reopened.
      configuration.elapsed = { [clock = self.clock, file = self.tree.path("unified/own/memory.pressure")] in
        if Descriptors.count(at: file) == 2 { isWatched.open() }
        return clock.elapsed
      }
      let source = CgroupMemoryPressureSource(configuration)
      let receiver = LevelReceiver(source)
      try await self.acceptAndHangUp()
      self.clock.advance(by: .seconds(1))
      try await self.acceptAndHangUp()
      self.clock.advance(by: .seconds(10))
      try await isWatched.wait()
      try expect(self.tree.read("unified/own/memory.pressure"), equals: "full 100000 2000000\0")
      receiver.cancel()
      await source.settled()
      #expect(!configuration.loop.isRunning)
      expect(Descriptors.count(at: self.tree.root), equals: 0)
    }
  }
#endif
