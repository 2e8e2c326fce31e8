#if os(Linux)
  import Glibc
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  /// The observer on systems that restrict what it may read.
  @Suite(.bounded) struct ReadingMethodTests {
    private let fixture = WatchFixture()
    private var kernel: FakeKernel { self.fixture.kernel }
    private var clock: ManualClock { self.fixture.clock }

    @Test func `Without notifications it sends requests every 5 seconds`() async throws {
      self.kernel.refuse(feed: EPERM)
      let subscription = self.fixture.subscribe()
      expect(self.fixture.log.all, equals: [.connected])
      expect(self.clock.remainingTimes(), equals: [.seconds(5)])
      #expect(!self.fixture.loop.isRunning)
      self.kernel.change { $0 = .plugged }
      self.clock.advance(by: .seconds(5))
      self.clock.advance(by: .milliseconds(400))
      expect(self.fixture.log.all, equals: [.connected, .requiresConnection])
      expect(self.clock.remainingTimes(), equals: [.milliseconds(4_600)])
      subscription.cancel()
      expect(self.clock.sleeperCount(), equals: 0)
    }

    @Test(arguments: [EPERM, EAFNOSUPPORT, EACCES])
    func `Without answers it probes every 10 seconds`(code: CInt) async throws {
      self.kernel.refuse(channel: code)
      self.kernel.answerProbes(with: .success(false))
      let subscription = self.fixture.subscribe()
      expect(self.fixture.log.all, equals: [.disconnected])
      expect(self.clock.remainingTimes(), equals: [.seconds(10)])
      expect(self.kernel.openFeedCount, equals: 0)
      self.kernel.answerProbes(with: .success(true))
      self.clock.advance(by: .seconds(10))
      expect(self.fixture.log.all, equals: [.disconnected, .connected])
      subscription.cancel()
      expect(self.clock.sleeperCount(), equals: 0)
    }

    @Test func `A kernel that refuses requests is probed`() async throws {
      self.kernel.tamper { _, sequence, _ in
        let bytes = MessageWriter.refusal(EACCES, sequence: sequence)
        return [NetlinkDatagram(bytes: bytes, length: bytes.count, sender: 0)]
      }
      self.kernel.answerProbes(with: .success(true))
      let subscription = self.fixture.subscribe()
      expect(self.fixture.log.all, equals: [.connected])
      expect(self.clock.remainingTimes(), equals: [.seconds(10)])
      subscription.cancel()
    }

    @Test func `Without any method it counts as connected, and reports that once`() async throws {
      self.kernel.refuse(channel: EPERM)
      self.kernel.answerProbes(with: .failure(SystemFailure(call: "socket", code: EPERM)))
      let subscription = expectWarning(.init(description: "networkNotObservable")) { self.fixture.subscribe() }
      expect(self.fixture.log.all, equals: [.connected])
      expect(self.clock.remainingTimes(), equals: [.seconds(60)])
      #expect(!self.fixture.loop.isRunning)
      subscription.cancel()
      expect(self.clock.sleeperCount(), equals: 0)
      let recorder = Receiver<NetworkConnectionStatus>()
      let second = OperationWarning.withReporter { _ in
        recorder.receive(.disconnected)
      } operation: {
        self.fixture.subscribe()
      }
      expect(recorder.all, equals: [])
      second.cancel()
    }

    @Test(arguments: [EMFILE, ENFILE, ENOMEM])
    func `Without descriptors it tries again soon, with growing delays`(code: CInt) async throws {
      self.kernel.refuse(feed: code, channel: code)
      self.kernel.answerProbes(with: .failure(SystemFailure(call: "socket", code: code)))
      let subscription = expectWarning(.init(description: "networkNotObservable")) { self.fixture.subscribe() }
      expect(self.fixture.log.all, equals: [.connected])
      for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
        expect(self.clock.remainingTimes(), equals: [.seconds(seconds)])
        self.clock.advance(by: .seconds(seconds))
      }
      self.kernel.refuse()
      self.kernel.change { $0 = .plugged }
      self.clock.advance(by: .seconds(60))
      expect(self.clock.remainingTimes(), equals: [.milliseconds(400)])
      self.clock.advance(by: .milliseconds(400))
      expect(self.fixture.log.all, equals: [.connected, .requiresConnection])
      subscription.cancel()
    }

    @Test func `A method that failed for a while is used again`() async throws {
      self.kernel.refuse(feed: EMFILE, channel: EMFILE)
      self.kernel.answerProbes(with: .success(false))
      let subscription = self.fixture.subscribe()
      expect(self.fixture.log.all, equals: [.disconnected])
      self.kernel.refuse(feed: EMFILE)
      self.clock.advance(by: .seconds(10))
      expect(self.fixture.log.all, equals: [.disconnected, .connected])
      expect(self.clock.remainingTimes(), equals: [.seconds(5)])
      self.kernel.refuse()
      self.clock.advance(by: .seconds(5))
      expect(self.clock.sleeperCount(), equals: 0)
      #expect(self.fixture.loop.isRunning)
      try await self.fixture.change { $0 = .plugged }
      self.clock.advance(by: .milliseconds(450))
      expect(self.fixture.log.all, equals: [.disconnected, .connected, .requiresConnection])
      subscription.cancel()
      #expect(!self.fixture.loop.isRunning)
      expect(self.kernel.openChannelCount, equals: 0)
    }

    @Test func `When a reading fails, the best method that works is used`() async throws {
      let subscription = self.fixture.subscribe()
      self.kernel.refuse(feed: ENOBUFS, read: ENOBUFS)
      self.kernel.answerProbes(with: .success(false))
      try await self.fixture.change { _ in }
      self.clock.advance(by: .milliseconds(50))
      expect(self.clock.remainingTimes(), equals: [.milliseconds(400), .seconds(10)])
      self.clock.advance(by: .milliseconds(400))
      expect(self.fixture.log.all, equals: [.connected, .disconnected])
      #expect(!self.fixture.loop.isRunning)
      subscription.cancel()
      expect(self.clock.sleeperCount(), equals: 0)
      expect(self.kernel.openChannelCount, equals: 0)
      expect(self.kernel.openFeedCount, equals: 0)
    }

    @Test func `When a reading fails once, new sockets are opened and the method stays`() async throws {
      let subscription = self.fixture.subscribe()
      self.kernel.tamper { attempt, _, datagrams in attempt == 7 ? [] : datagrams }
      expect(self.kernel.requestCount, equals: 6)
      try await self.fixture.change { $0 = .plugged }
      self.clock.advance(by: .milliseconds(50))
      self.clock.advance(by: .milliseconds(400))
      expect(self.fixture.log.all, equals: [.connected, .requiresConnection])
      try await self.fixture.change { $0 = .online }
      self.clock.advance(by: .milliseconds(50))
      expect(self.fixture.log.all, equals: [.connected, .requiresConnection, .connected])
      expect(self.kernel.channelCount, equals: 2)
      expect(self.kernel.openChannelCount, equals: 1)
      expect(self.kernel.openFeedCount, equals: 1)
      subscription.cancel()
    }
  }
#endif
