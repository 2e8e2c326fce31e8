#if os(Linux)
  import Foundation
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// The variables with which a service manager chooses the source of stalls.
  @Suite(.bounded, .warningsAreIssues)
  struct ServiceManagerTests {
    private let tree: FakeTree
    private let loop = EventLoop()

    init() throws {
      self.tree = try FakeTree()
      try self.tree.writeMachine()
      try self.tree.writeUnified(group: "/own")
      try self.tree.write("", to: "unified/own/memory.pressure")
      try self.tree.write("", to: "proc/pressure/memory")
    }

    private func configuration(_ watch: String?, writing text: String? = nil) -> PressureMonitor.Configuration {
      var paths = self.tree.paths
      paths.environment["MEMORY_PRESSURE_WATCH"] = watch
      paths.environment["MEMORY_PRESSURE_WRITE"] = text
      var configuration = PressureMonitor.Configuration(paths: paths)
      configuration.loop = self.loop
      configuration.files = FileWatcher(loop: self.loop)
      configuration.intervals = PressureMonitor.Intervals(calm: .seconds(3_600), raised: .milliseconds(5))
      return configuration
    }

    @Test func `The bytes are written to the file, and no other file is opened`() async throws {
      try self.tree.write("", to: "watched")
      let source = CgroupMemoryPressureSource(
        self.configuration(self.tree.path("watched"), writing: "c29tZSAyMDAwMDAgMjAwMDAwMAA=")
      )
      let receiver = LevelReceiver(source)
      await source.settled()
      try expect(self.tree.read("watched"), equals: "some 200000 2000000\0")
      #expect(try self.tree.read("unified/own/memory.pressure").isEmpty)
      #expect(try self.tree.read("proc/pressure/memory").isEmpty)
      receiver.cancel()
    }

    @Test func `Without the variables the group is watched, with two triggers`() async throws {
      let source = CgroupMemoryPressureSource(self.configuration(nil))
      let receiver = LevelReceiver(source)
      await source.settled()
      try expect(self.tree.read("unified/own/memory.pressure"), equals: "full 100000 2000000\0")
      #expect(try self.tree.read("proc/pressure/memory").isEmpty)
      try await expect(Descriptors.count(at: self.tree.path("unified/own/memory.pressure"), on: self.loop), equals: 2)
      receiver.cancel()
      await source.settled()
      expect(Descriptors.count(at: self.tree.root), equals: 0)
    }

    @Test(arguments: ["relative", "/nowhere/at/all", ""])
    func `An invalid path counts as none`(_ watch: String) async throws {
      let source = CgroupMemoryPressureSource(self.configuration(watch))
      let receiver = LevelReceiver(source)
      await source.settled()
      try await expect(Descriptors.count(at: self.tree.path("unified/own/memory.pressure"), on: self.loop), equals: 2)
      receiver.cancel()
    }

    @Test(arguments: [nil, ""])
    func `A file without bytes to write would report nothing, so the group is watched`(
      _ text: String?
    ) async throws {
      let source = CgroupMemoryPressureSource(
        self.configuration(self.tree.path("proc/pressure/memory"), writing: text)
      )
      let receiver = LevelReceiver(source)
      await source.settled()
      expect(Descriptors.count(at: self.tree.path("proc/pressure/memory")), equals: 0)
      try await expect(Descriptors.count(at: self.tree.path("unified/own/memory.pressure"), on: self.loop), equals: 2)
      receiver.cancel()
    }

    @Test func `Without a pressure file of the group, that of the machine is watched`() async throws {
      try self.tree.remove("unified/own/memory.pressure")
      let source = CgroupMemoryPressureSource(self.configuration(nil))
      let receiver = LevelReceiver(source)
      await source.settled()
      try expect(self.tree.read("proc/pressure/memory"), equals: "full 100000 2000000\0")
      receiver.cancel()
    }

    @Test func `The null device turns watching off, unless the program ignores the variables`() async throws {
      try self.tree.writeMachine(available: 10)
      let source = CgroupMemoryPressureSource(self.configuration("/dev/null"))
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      await source.settled()
      #expect(!self.loop.isRunning)
      expect(Descriptors.count(at: self.tree.root), equals: 0)
      receiver.cancel()
      var configuration = self.configuration("/dev/null")
      configuration.obeysServiceManager = false
      let other = LevelReceiver(CgroupMemoryPressureSource(configuration))
      try await expect(other.next(), equals: .critical)
      other.cancel()
    }

    @Test func `Any data in a named pipe is a warning`() async throws {
      let path = self.tree.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      let source = CgroupMemoryPressureSource(self.configuration(path, writing: "aGVsbG8="))
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      await source.settled()
      // The bytes that the source has written itself are not reported.
      expect(receiver.receivedCount, equals: 1)
      let manager = try #require(FileHandle(forWritingAtPath: path))
      try manager.write(contentsOf: Data(repeating: 1, count: 2_000))
      try await expect(receiver.next(), equals: .warning)
      try manager.close()
      receiver.cancel()
      await source.settled()
      #expect(!self.loop.isRunning)
      expect(Descriptors.count(at: self.tree.root), equals: 0)
    }

    @Test func `A socket gets the bytes, is read, and is connected again after it has hung up`() async throws {
      let server = try SocketServer(path: self.tree.path("socket"))
      let source = CgroupMemoryPressureSource(self.configuration(self.tree.path("socket"), writing: "aGVsbG8="))
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      let first = try await server.accept()
      expect(first.receive(), equals: "hello")
      first.send("x")
      try await expect(receiver.next(), equals: .warning)
      first.close()
      let second = try await server.accept()
      expect(second.receive(), equals: "hello")
      second.close()
      receiver.cancel()
    }
  }
#endif
