#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// A source that reads fake files.
  @Suite(.bounded, .warningsAreIssues)
  struct SourceTests {
    private let tree: FakeTree
    private let loop = EventLoop()
    private let clock = ManualClock()
    private let configuration: PressureMonitor.Configuration

    init() throws {
      self.tree = try FakeTree()
      try self.tree.writeMachine()
      try self.tree.writeUnified(group: "/own")
      try self.tree.writeGroup("/own", current: 10, max: 100)
      try self.tree.writeEvents("/own")
      var configuration = PressureMonitor.Configuration(paths: self.tree.paths)
      configuration.loop = self.loop
      configuration.files = FileWatcher(loop: self.loop)
      configuration.elapsed = { [clock = self.clock] in clock.elapsed }
      // No timer fires, unless a test sets other intervals.
      configuration.intervals = PressureMonitor.Intervals(calm: .seconds(3_600), raised: .seconds(3_600))
      self.configuration = configuration
    }

    private func source(
      calm: Duration = .seconds(3_600),
      raised: Duration = .seconds(3_600)
    ) -> CgroupMemoryPressureSource {
      var configuration = self.configuration
      configuration.intervals = PressureMonitor.Intervals(calm: calm, raised: raised)
      return CgroupMemoryPressureSource(configuration)
    }

    @Test func `A subscriber receives the level of the memory in use before subscribing returns`() async throws {
      try self.tree.writeGroup("/own", current: 96, max: 100)
      let source = self.source()
      let received = Log<MemoryPressure>()
      let first = source.subscribe { received.append($0) }
      expect(received.all, equals: [.critical])
      await source.settled()
      let second = source.subscribe { received.append($0) }
      expect(received.all, equals: [.critical, .critical])
      first.cancel()
      second.cancel()
    }

    @Test func `The level rises with the memory in use, and falls after ten seconds`() async throws {
      let source = self.source(calm: .milliseconds(5), raised: .milliseconds(5))
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      try self.tree.write("\(90 << 20)\n", to: "unified/own/memory.current")
      try await expect(receiver.next(), equals: .warning)
      try self.tree.write("\(99 << 20)\n", to: "unified/own/memory.current")
      try await expect(receiver.next(), equals: .critical)
      try self.tree.write("\(70 << 20)\n", to: "unified/own/memory.current")
      await source.settled()
      self.clock.advance(by: .seconds(11))
      try await expect(receiver.next(), equals: .normal)
      receiver.cancel()
    }

    @Test func `Limits that are reached are reported at once`() async throws {
      let source = self.source()
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      await source.settled()
      try self.tree.writeEvents("/own", high: 1)
      try await expect(receiver.next(), equals: .warning)
      try self.tree.writeEvents("/own", high: 1, oomKill: 1)
      try await expect(receiver.next(), equals: .critical)
      self.clock.advance(by: .seconds(3))
      try self.tree.writeEvents("/own", high: 1, oomKill: 2)
      try await expect(receiver.next(), equals: .critical)
      receiver.cancel()
    }

    @Test func `A file that is replaced is still watched`() async throws {
      let source = self.source()
      let receiver = LevelReceiver(source)
      try await expect(receiver.next(), equals: .normal)
      await source.settled()
      try self.tree.replace("unified/own/memory.events", with: "high 1\nmax 0\noom_kill 0\n")
      try await expect(receiver.next(), equals: .warning)
      try self.tree.write("high 1\nmax 0\noom_kill 1\n", to: "unified/own/memory.events")
      try await expect(receiver.next(), equals: .critical)
      receiver.cancel()
    }

    @Test func `All subscribers receive the same, and a cancelled one receives nothing more`() async throws {
      let source = self.source()
      let receivers = (0..<5).map { _ in LevelReceiver(source) }
      for receiver in receivers { try await expect(receiver.next(), equals: .normal) }
      await source.settled()
      receivers[0].cancel()
      try self.tree.writeEvents("/own", high: 1)
      for receiver in receivers.dropFirst() { try await expect(receiver.next(), equals: .warning) }
      await source.settled()
      expect(receivers[0].receivedCount, equals: 1)
      for receiver in receivers { receiver.cancel() }
    }

    @Test func `Nothing is left after the last subscription, and the next one opens all again`() async throws {
      let source = self.source()
      for _ in 0..<3 {
        let (first, second) = (LevelReceiver(source), LevelReceiver(source))
        await source.settled()
        #expect(self.loop.isRunning)
        #expect(self.configuration.files.isOpen)
        // Without a pressure file, only the counters of the group are open.
        try await expect(Descriptors.count(at: self.tree.root, on: self.loop), equals: 1)
        first.cancel()
        await source.settled()
        #expect(self.loop.isRunning)
        second.cancel()
        await source.settled()
        #expect(!self.loop.isRunning)
        #expect(!self.configuration.files.isOpen)
        expect(Descriptors.count(at: self.tree.root), equals: 0)
      }
    }

    @Test func `Short subscriptions leave nothing`() async throws {
      let source = self.source()
      for _ in 0..<200 { source.subscribe { _ in }.cancel() }
      await source.settled()
      #expect(!self.loop.isRunning)
      expect(Descriptors.count(at: self.tree.root), equals: 0)
    }

    @Test func `A handler may subscribe and cancel`() async throws {
      let source = self.source()
      let receiver = LevelReceiver(source)
      let received = Log<MemoryPressure>()
      let gate = Gate()
      let own = Box<OperationSubscription?>(nil)
      own.value = source.subscribe { pressure in
        guard pressure == .warning else { return }
        own.value?.cancel()
        source.subscribe { received.append($0) }.cancel()
        gate.open()
      }
      await source.settled()
      try self.tree.writeEvents("/own", high: 1)
      try await gate.wait()
      expect(received.all, equals: [.warning])
      receiver.cancel()
      await source.settled()
      #expect(!self.loop.isRunning)
    }

    @Test func `Concurrent subscriptions leave nothing`() async throws {
      let source = self.source(calm: .milliseconds(1), raised: .milliseconds(1))
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<8 {
          group.addTask { [tree = self.tree] in
            for round in 0..<50 {
              let subscription = source.subscribe { _ in }
              if index == 0 { try? tree.writeEvents("/own", high: round) }
              if round.isMultiple(of: 3) { await source.settled() }
              subscription.cancel()
            }
          }
        }
      }
      await source.settled()
      #expect(!self.loop.isRunning)
      #expect(!self.configuration.files.isOpen)
      expect(Descriptors.count(at: self.tree.root), equals: 0)
    }

    @Test func `A source without references is released, although it has a subscriber`() async throws {
      weak var witness: CgroupMemoryPressureSource?
      let subscription: OperationSubscription
      do {
        let source = self.source()
        witness = source
        subscription = source.subscribe { _ in }
        await source.settled()
      }
      #expect(witness == nil)
      // Its parts live as long as its subscribers.
      #expect(self.loop.isRunning)
      subscription.cancel()
    }
  }
#endif
