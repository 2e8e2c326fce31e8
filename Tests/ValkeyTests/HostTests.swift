#if SwiftOperationValkey && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  /// Several hosts, of which some do not answer, or are no servers.
  @Suite(.bounded) struct HostTests {
    private func opening(_ connection: String, _ clock: ManualClock) throws -> ConnectionOpening {
      try ConnectionOpening(ServerAddress(connection), deadlines: clock)
    }

    /// Waits until a request has reached a host, and its time limit runs.
    private func request(to host: FakeHost, _ clock: ManualClock) async throws {
      try await host.isReached.wait()
      try await clock.sleepers(count: 1)
    }

    @Test(.needsServer) func `A first host that accepts and says nothing leaves time for the second`() async throws {
      let port = try freePort()
      let server = try await ValkeyServer("--port", "\(port)")
      let silent = try FakeHost()
      let clock = ManualClock()
      let opening = try self.opening("redis://127.0.0.1:\(silent.port),127.0.0.1:\(port)", clock)
      let opened = Task { try await opening.open(within: .seconds(20)) }
      try await self.request(to: silent, clock)
      // A half of the time is for each of the two.
      clock.advance(by: .seconds(10))
      let connection = try await opened.value
      try await expect(connection.perform(Request("PING"), within: .seconds(10)).text, equals: "PONG")
      connection.close()
      withExtendedLifetime(server) {}
    }

    @Test func `When no host answers, the error names each of them, and comes in time`() async throws {
      let hosts = [try FakeHost(), try FakeHost()]
      let clock = ManualClock()
      let closed = try freePort()
      let opening = try self.opening(
        "redis://127.0.0.1:\(hosts[0].port),127.0.0.1:\(hosts[1].port),127.0.0.1:\(closed)",
        clock
      )
      let opened = Task { await #expect(throws: ValkeyError.self) { try await opening.open(within: .seconds(6)) } }
      for host in hosts {
        try await self.request(to: host, clock)
        clock.advance(by: .seconds(2))
      }
      let error = await opened.value
      expect(error?.code, equals: .unavailable)
      for host in hosts {
        let text = "127.0.0.1:\(host.port): it has not answered within 2.0 s"
        expect(error?.message.contains(text), equals: true, "\(String(describing: error))")
      }
      expect(error?.message.contains("127.0.0.1:\(closed): Connection refused"), equals: true)
    }

    @Test func `A look-up of a name that does not end delays no other host for longer than its part`() async throws {
      let silent = try FakeHost()
      let clock = ManualClock()
      let (isAsked, isOver) = (Gate(), DispatchSemaphore(value: 0))
      let opening = try ConnectionOpening(
        ServerAddress("redis://none.test,slow.test,127.0.0.1:\(silent.port)"),
        deadlines: clock,
        addresses: { name in
          if name != "slow.test" { return name == "none.test" ? [] : [name] }
          isAsked.open()
          isOver.wait()
          return []
        }
      )
      let opened = Task { await #expect(throws: ValkeyError.self) { try await opening.open(within: .seconds(10)) } }
      try await isAsked.wait()
      clock.advance(by: .seconds(5))
      try await self.request(to: silent, clock)
      isOver.signal()
      clock.advance(by: .seconds(5))
      let message = await opened.value?.message ?? ""
      #expect(message.contains("none.test:6379 has no address; slow.test:6379 is looked up for too long"), "\(message)")
      #expect(message.contains("127.0.0.1:\(silent.port): it has not answered within 5.0 s"), "\(message)")
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "\u{15}\u{3}\u{1}\r\n", "*1000000000\r\n"])
    func `A host that is no server of this kind is told as one`(answer: String) async throws {
      let host = try FakeHost(answer: answer)
      let fleet = try ValkeyFleet(connection: "redis://127.0.0.1:\(host.port)", timeout: .seconds(60))
      let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("x")]) }
      #expect(
        error?.code == .failed && error?.message.contains("if it has TLS") == true,
        "\(String(describing: error))"
      )
      await fleet.close()
    }

    @Test func `A server that is away is asked again after a pause, in which callers do not wait`() async throws {
      let clock = ManualClock()
      let host = try FakeHost(answer: "-LOADING Redis is loading the dataset in memory\r\n")
      let fleet = try ValkeyFleet("redis://127.0.0.1:\(host.port)", prefix: "a", deadlines: clock)
      for _ in 0..<3 {
        let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("x")]) }
        #expect(error?.code == .unreachable && error?.message.contains("LOADING") == true)
      }
      expect(host.connectionCount, equals: 1)
      // The longest first pause.
      clock.advance(by: .milliseconds(50))
      _ = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("x")]) }
      expect(host.connectionCount, equals: 2)
      await fleet.close()
    }
  }

  /// A port that takes connections, on which nobody answers, or always the same.
  final class FakeHost: Sendable {
    let port: Int
    /// Opens with the first bytes that arrive.
    let isReached = Gate()
    private let listener: CInt
    private let count = Counter()

    var connectionCount: Int { self.count.value }

    /// - Parameter answer: What each connection is told when it has said something; nil for nothing.
    /// - Throws: A failure if no port is free.
    init(answer: String? = nil) throws {
      let (listener, port) = try LocalSocket.listening()
      self.listener = listener
      self.port = port
      Thread.detachNewThread { [isReached, count] in
        var connections: [CInt] = []
        while true {
          let connection = accept(listener, nil, nil)
          guard connection >= 0 else { break }
          connections.append(connection)
          var bytes = [UInt8](repeating: 0, count: 4_096)
          guard recv(connection, &bytes, bytes.count, 0) > 0 else { continue }
          count.increment()
          isReached.open()
          if let answer { _ = send(connection, answer, answer.utf8.count, CInt(MSG_NOSIGNAL)) }
        }
        for connection in connections { Glibc.close(connection) }
        Glibc.close(listener)
      }
    }

    deinit {
      shutdown(self.listener, CInt(SHUT_RDWR))
    }
  }
#endif
