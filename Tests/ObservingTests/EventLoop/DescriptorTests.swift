#if os(Linux)
  import Glibc
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationEventLoop

  @Suite(.bounded) struct DescriptorTests {
    private let loop = EventLoop()

    @Test func `Bytes to read are reported, and again until they are read`() async throws {
      let pipe = Pipe()
      let received = Log<EventLoop.Events>()
      let third = Gate()
      let registration = self.loop.watch(pipe.reader, for: .readable) { events in
        let count = received.append(events)
        guard count == 3 else { return }
        pipe.receive()
        third.open()
      }
      pipe.send()
      try await third.wait()
      registration.cancel()
      expect(received.all, equals: [.readable, .readable, .readable])
    }

    @Test func `A hang-up is reported even if no event is requested`() async throws {
      let pipe = Pipe()
      try await expect(self.firstEvents(of: pipe.reader, after: pipe.closeWriter), equals: .hangUp)
    }

    @Test func `An error is reported`() async throws {
      let pipe = Pipe()
      try await expect(self.firstEvents(of: pipe.writer, after: pipe.closeReader), equals: .error)
    }

    /// The first events after a change that is permanent.
    ///
    /// The handler cancels the registration, as the loop would report the condition again and again.
    private func firstEvents(of descriptor: CInt, after change: () -> Void) async throws -> EventLoop.Events? {
      let received = Box<EventLoop.Events?>(nil)
      let registration = Box<EventLoop.Registration?>(nil)
      let over = Gate()
      registration.value = self.loop.watch(descriptor, for: []) { events in
        received.value = events
        registration.value?.cancel()
        over.open()
      }
      change()
      try await over.wait()
      return received.value
    }

    @Test func `Out-of-band data is urgent`() async throws {
      let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          expect(bind(listener, address, length), equals: 0)
          expect(listen(listener, 1), equals: 0)
          expect(getsockname(listener, address, &length), equals: 0)
          expect(connect(client, address, length), equals: 0)
        }
      }
      let server = accept(listener, nil, nil)
      let received = Box<EventLoop.Events?>(nil)
      let urgent = Gate()
      let registration = self.loop.watch(server, for: .urgent) { events in
        received.value = events
        var byte: UInt8 = 0
        _ = recv(server, &byte, 1, CInt(MSG_OOB))
        urgent.open()
      }
      var byte: UInt8 = 7
      expect(send(client, &byte, 1, CInt(MSG_OOB)), equals: 1)
      try await urgent.wait()
      registration.cancel()
      expect(received.value, equals: .urgent)
      for descriptor in [listener, client, server] { close(descriptor) }
    }

    @Test func `A descriptor that is not open is reported once, and the loop does not spin`() async throws {
      let received = Log<EventLoop.Events>()
      let (before, after) = (Box<Duration?>(nil), Box<Duration?>(nil))
      let (reported, over) = (Gate(), Gate())
      // No process has a descriptor with this number.
      let registration = self.loop.watch(CInt.max - 1, for: .readable) { events in
        received.append(events)
        before.value = Process.threadTime
        reported.open()
      }
      try await reported.wait()
      let timer = self.loop.schedule(after: .milliseconds(200)) {
        after.value = Process.threadTime
        over.open()
      }
      try await over.wait()
      expect(received.all, equals: [.invalid])
      #expect(try #require(after.value) - #require(before.value) < .milliseconds(100))
      timer.cancel()
      registration.cancel()
      #expect(!self.loop.isRunning)
    }

    @Test func `A descriptor that is closed before its registration is cancelled does not disturb others`() async throws
    {
      let (bad, good) = (Pipe(), Pipe())
      let (invalid, received) = (Gate(), Gate())
      let first = self.loop.watch(bad.reader, for: .readable) { events in
        if events.contains(.invalid) || events.contains(.hangUp) { invalid.open() }
      }
      bad.closeReader()
      let second = self.loop.watch(good.reader, for: .readable) { _ in
        good.receive()
        received.open()
      }
      good.send()
      try await received.wait()
      first.cancel()
      second.cancel()
      #expect(!self.loop.isRunning)
    }

    @Test func `Thousands of registrations each receive their own events`() async throws {
      let pipes = (0..<100).map { _ in Pipe() }
      let received = Log<Int>()
      let all = Gate()
      var registrations: [EventLoop.Registration] = []
      for (number, pipe) in pipes.enumerated() {
        registrations.append(
          self.loop.watch(pipe.reader, for: .readable) { _ in
            guard pipe.receive() != nil else { return }
            if received.append(number) == pipes.count { all.open() }
          }
        )
      }
      registrations += (0..<10_000).map { number in
        self.loop.schedule(after: .seconds(3_600 + number)) { Issue.record("the timer of an hour has fired") }
      }
      for pipe in pipes.shuffled() { pipe.send() }
      try await all.wait()
      expect(received.all.sorted(), equals: Array(0..<100))
      for registration in registrations.shuffled() { registration.cancel() }
      #expect(!self.loop.isRunning)
    }

    @Test(.enabled(if: Process.descriptorLimit <= 100_000, "the limit of descriptors is too high to be exceeded"))
    func `More descriptors than the process may have do not make the loop spin`() async throws {
      let pipe = Pipe()
      let registrations = (0...Process.descriptorLimit).map { _ in self.loop.watch(pipe.reader, for: .readable) { _ in }
      }
      let (before, after) = (Box<Duration?>(nil), Box<Duration?>(nil))
      let over = Gate()
      let first = self.loop.schedule(after: .milliseconds(1)) { before.value = Process.threadTime }
      let second = self.loop.schedule(after: .milliseconds(200)) {
        after.value = Process.threadTime
        over.open()
      }
      try await over.wait()
      #expect(try #require(after.value) - #require(before.value) < .milliseconds(100))
      for registration in registrations + [first, second] { registration.cancel() }
      #expect(!self.loop.isRunning)
    }
  }
#endif
