#if SwiftOperationDevtools
  import OperationCore
  import OperationPlatform
  import OperationTesting
  import OperationTop
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  /// How the page's server begins and ends, and what a stranger can take of it.
  @Suite(.bounded) struct PageServerTests {
    private let client = OperationClient()

    private static func get(_ target: String, at address: String, _ more: [(String, String)] = []) async throws -> Int {
      let page = try #require(DevtoolsAddress(address))
      let text = LoopbackHTTP.text("GET", target, fields: [("Host", "127.0.0.1:\(page.port)")] + more)
      return try await Served.onThread { try LoopbackHTTP.send(text, to: page.port, waitingAtMost: 60).status }
    }

    private static func isClosed(_ address: String) async throws -> Bool {
      let page = try #require(DevtoolsAddress(address))
      return try await Served.onThread {
        do throws(LoopbackError) {
          _ = try LoopbackSocket(port: page.port)
          return false
        } catch {
          return true
        }
      }
    }

    private func isFollowed(_ devtools: Devtools) async -> Bool { await devtools.liveFeed?.isReading ?? false }

    // MARK: - Beginning and ending

    @Test func `It is started once, and stopped as a whole`() async throws {
      let devtools = Devtools(self.client)
      let addresses = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<8 { group.addTask { try await devtools.start() } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      let address = try #require(addresses.first)
      expect(addresses.count, equals: 1)
      try await expect(Self.get("/", at: address), equals: 200)
      #expect(await self.isFollowed(devtools))
      await withTaskGroup { group in
        for _ in 0..<3 { group.addTask { await devtools.stop() } }
      }
      #expect(try await Self.isClosed(address))
      #expect(!(await self.isFollowed(devtools)))
      let next = try await devtools.start()
      try await expect(Self.get("/", at: next), equals: 200)
      await devtools.stop()
      #expect(!(await self.isFollowed(devtools)))
    }

    @Test func `A cancelled run leaves nothing, and can be run again`() async throws {
      let devtools = Devtools(self.client)
      for _ in 0..<2 {
        let gate = Gate()
        let address = Box("")
        let run = Task {
          try await devtools.run { text in
            address.value = text
            gate.open()
          }
        }
        try await gate.wait()
        try await expect(Self.get("/", at: address.value), equals: 200)
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(try await Self.isClosed(address.value))
        #expect(!(await self.isFollowed(devtools)))
      }
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await devtools.run { _ in Issue.record("It was announced.") }
      }
      await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func `A run that somebody stops returns`() async throws {
      let devtools = Devtools(self.client)
      try await devtools.run { _ in Task { await devtools.stop() } }
      #expect(!(await self.isFollowed(devtools)))
    }

    @Test func `A start that fails leaves nothing, and says why`() async throws {
      let first = Devtools(self.client)
      let page = try #require(DevtoolsAddress(try await first.start()))
      let second = Devtools(self.client, port: page.port, token: "a-token_of_somebody")
      let error = await #expect(throws: DevtoolsError.self) { try await second.start() }
      expect(error?.code, equals: .portNotServed)
      expect(error?.description.hasPrefix("The port \(page.port) cannot be served: "), equals: true)
      #expect(!(await self.isFollowed(second)))
      await first.stop()
      // The address is the one of before when somebody has chosen port and token.
      for _ in 0..<2 {
        try await expect(second.start(), equals: "http://127.0.0.1:\(page.port)/?token=a-token_of_somebody")
        await second.stop()
      }
    }

    @Test(arguments: ["", "short", "with a space in it", "with&sign-0123456789", "ä0123456789012345"])
    func `A token that anybody could guess or an address would change is refused`(token: String) async {
      let devtools = Devtools(self.client, token: token)
      let error = await #expect(throws: DevtoolsError.self) { try await devtools.start() }
      expect(error?.code, equals: .unfitToken)
      #expect(!(await self.isFollowed(devtools)))
    }

    @Test func `A value that is released serves nothing`() async throws {
      let lifetimes = LifetimeTracker()
      var address = ""
      do {
        let client = OperationClient()
        client.attach(FeedToken(lifetimes.token()))
        let devtools = Devtools(client)
        address = try await devtools.start()
        try await expect(Self.get("/", at: address), equals: 200)
      }
      try await lifetimes.noneAlive()
      // Its socket is closed on the thread of the server.
      let page = try #require(DevtoolsAddress(address))
      let next = Devtools(self.client, port: page.port)
      _ = try? await next.start()
      await next.stop()
    }

    @Test func `A recording that has ended follows nothing, and leaves a page as it is`() async throws {
      let devtools = Devtools(self.client)
      let path = "/tmp/devtools-\(UInt64.random(in: 0 ... .max)).ndjson"
      try await devtools.record(to: path, limit: 0)
      #expect(!(await self.isFollowed(devtools)))
      _ = try await devtools.start()
      try await devtools.record(to: path, limit: 0)
      #expect(await self.isFollowed(devtools))
      await devtools.stop()
      await #expect(throws: DevtoolsError.self) { try await devtools.record(to: "/nowhere/at/all") }
      #expect(!(await self.isFollowed(devtools)))
    }

    // MARK: - Reloading

    @Test func `The page can be loaded again, and a link of another page leads to it`() async throws {
      try await Served.with(Devtools(self.client)) { served in
        let host = [("Host", "127.0.0.1:\(served.address.port)")]
        let link = [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
        for fields in [[], link, [("Sec-Fetch-Site", "none")]] {
          for target in ["/", "/?token=\(served.address.token)"] {
            let page = try await served.send("GET", target, host + fields)
            #expect(page.status == 200 && !page.body.contains(served.address.token))
          }
        }
        let frame = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")]
        try await expect(served.send("GET", "/", host + frame).status, equals: 403)
        try await expect(served.send("GET", "/api/hello", served.fields + link).status, equals: 403)
      }
    }

    // MARK: - Limits

    private func serve(
      _ limits: PageListener.Limits,
      _ deadlines: some DeadlineSource,
      accepting: @escaping PageSocket.Accepting = { accept($0, nil, nil) },
      _ body: (DevtoolsAddress) async throws -> Void
    ) async throws {
      let feed = LiveFeed(self.client, allowsActions: false, simulation: nil)
      let server = PageServer(feed, port: 0, token: nil, limits: limits, deadlines: deadlines, accepting: accepting)
      let text = try await server.start()
      do {
        try await body(try #require(DevtoolsAddress(text)))
      } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }

    /// A connection that has sent something.
    private struct Peer: Sendable {
      nonisolated(unsafe) let socket: LoopbackSocket  // One call at a time uses it.

      init(_ address: DevtoolsAddress, _ text: String = "") async throws {
        let socket = try await Served.onThread {
          Unchecked(try LoopbackSocket(port: address.port, waitingAtMost: 60))
        }
        self.socket = socket.value
        if !text.isEmpty { try await Served.onThread { try socket.value.send(text) } }
      }

      /// What comes until the other side ends.
      func rest() async throws -> String {
        let socket = Unchecked(self.socket)
        return try await Served.onThread {
          var bytes: [UInt8] = []
          while case let more = try socket.value.receive(), !more.isEmpty { bytes += more }
          return String(decoding: bytes, as: UTF8.self)
        }
      }

      /// What comes next.
      func next() async throws -> String {
        let socket = Unchecked(self.socket)
        return try await Served.onThread { String(decoding: try socket.value.receive(), as: UTF8.self) }
      }
    }

    private struct Unchecked<Value>: @unchecked Sendable {
      // Unchecked because a test uses the value on one thread after the other.
      let value: Value

      init(_ value: Value) { self.value = value }
    }

    private static func events(_ address: DevtoolsAddress) -> String {
      LoopbackHTTP.text("GET", "/api/events", fields: LoopbackHTTP.fields(for: address))
    }

    @Test func `A request line of 60 kB is answered at once, and read to its end`() async throws {
      try await self.serve(PageListener.Limits(), ManualClock()) { address in
        let peer = try await Peer(address, "GET /\(String(repeating: "a", count: 60_000)) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await peer.rest().hasPrefix("HTTP/1.1 431 "))
      }
    }

    @Test func `A request that does not arrive in time ends its connection`() async throws {
      let clock = ManualClock()
      try await self.serve(PageListener.Limits(), clock) { address in
        let idle = try await Peer(address)
        try await clock.sleepers(count: 1)
        clock.advance(by: .seconds(9))
        let slow = try await Peer(address, "GET / HTTP/1.1\r\n")
        try await clock.sleepers(count: 2)
        clock.advance(by: .seconds(1))
        #expect(try await idle.rest().isEmpty)
        clock.advance(by: .seconds(9))
        #expect(try await slow.rest().isEmpty)
      }
    }

    @Test func `Idle connections give way to others`() async throws {
      var limits = PageListener.Limits()
      limits.connections = 2
      try await self.serve(limits, ManualClock()) { [limits] address in
        let idle = [try await Peer(address), try await Peer(address, "GET")]
        for _ in 0..<3 * limits.connections {
          let page = LoopbackHTTP.text("GET", "/", fields: [("Host", "127.0.0.1:\(address.port)")])
          #expect(try await Peer(address, page).rest().hasPrefix("HTTP/1.1 200 "))
        }
        #expect(try await idle[0].rest().isEmpty)
      }
    }

    @Test func `Pages that are looked at do not give way, and another one waits for the end of one`() async throws {
      var limits = PageListener.Limits()
      limits.connections = 2
      try await self.serve(limits, ManualClock()) { address in
        let first = try await Peer(address, Self.events(address))
        #expect(try await first.next().hasPrefix("HTTP/1.1 200 "))
        do {
          let second = try await Peer(address, Self.events(address))
          #expect(try await second.next().hasPrefix("HTTP/1.1 200 "))
        }
        // The second one has gone, and only that makes room.
        let third = try await Peer(address, Self.events(address))
        #expect(try await third.next().hasPrefix("HTTP/1.1 200 "))
        #expect(try await first.next().contains("data: "))
      }
    }

    // MARK: - Descriptors

    /// Manual time that lists the durations of what is waited for.
    private struct ListedTime: DeadlineSource {
      let clock = ManualClock()
      let durations: AsyncStream<Duration>
      private let list: AsyncStream<Duration>.Continuation

      init() { (self.durations, self.list) = AsyncStream.makeStream() }

      var elapsed: Duration { self.clock.elapsed }

      func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
        defer { self.list.yield(duration) }
        return self.clock.schedule(after: duration, action)
      }
    }

    /// The function of the system, which can refuse connections as in a process without a descriptor.
    private static func accepting(unless isRefused: Box<Bool>, _ refusals: Counter) -> PageSocket.Accepting {
      { descriptor in
        guard isRefused.value else { return accept(descriptor, nil, nil) }
        refusals.increment()
        errno = EMFILE
        return -1
      }
    }

    private static func page(_ address: DevtoolsAddress) -> String {
      LoopbackHTTP.text("GET", "/", fields: [("Host", "127.0.0.1:\(address.port)")])
    }

    @Test func `Without a descriptor a connection waits, and is answered once there is one again`() async throws {
      let (time, isRefused, refusals) = (ListedTime(), Box(true), Counter())
      let accepting = Self.accepting(unless: isRefused, refusals)
      try await self.serve(PageListener.Limits(), time, accepting: accepting) { address in
        var durations = time.durations.makeAsyncIterator()
        let peer = try await Peer(address, Self.page(address))
        // It is refused once after each pause. Without pauses it would be refused all the time.
        for number in 1...3 {
          await expect(durations.next(), equals: .milliseconds(100))
          #expect(refusals.value == number && time.clock.sleeperCount() == 1)
          time.clock.advance(by: .milliseconds(100))
        }
        await expect(durations.next(), equals: .milliseconds(100))
        isRefused.value = false
        time.clock.advance(by: .milliseconds(100))
        #expect(try await peer.rest().hasPrefix("HTTP/1.1 200 "))
        #expect(try await Peer(address, Self.page(address)).rest().hasPrefix("HTTP/1.1 200 "))
      }
    }

    @Test func `Without a descriptor a connection that sends nothing gives its own to the next one`() async throws {
      let (time, isRefused) = (ListedTime(), Box(false))
      let accepting = Self.accepting(unless: isRefused, Counter())
      try await self.serve(PageListener.Limits(), time, accepting: accepting) { address in
        var durations = time.durations.makeAsyncIterator()
        let idle = try await Peer(address)
        // It is taken, and has this long to send its request.
        await expect(durations.next(), equals: .seconds(10))
        isRefused.value = true
        let next = try await Peer(address, Self.page(address))
        #expect(try await idle.rest().isEmpty)
        await expect(durations.next(), equals: .milliseconds(100))
        isRefused.value = false
        time.clock.advance(by: .milliseconds(100))
        #expect(try await next.rest().hasPrefix("HTTP/1.1 200 "))
      }
    }

    @Test func `Stopping ends the pages that are looked at`() async throws {
      let devtools = Devtools(self.client)
      let address = try #require(DevtoolsAddress(try await devtools.start()))
      let page = try await Peer(address, Self.events(address))
      #expect(try await page.next().hasPrefix("HTTP/1.1 200 "))
      await devtools.stop()
      _ = try? await page.rest()
      #expect(!(await self.isFollowed(devtools)))
    }
  }

  private final class FeedToken: Sendable {
    private let token: LifetimeTracker.Token

    init(_ token: LifetimeTracker.Token) { self.token = token }
  }
#endif
