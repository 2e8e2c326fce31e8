#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  /// Several hosts, and hosts with several addresses, of which some do not answer.
  @Suite(.bounded) struct HostTests {
    private static let settings = ["listen_addresses=127.0.0.1"]

    private func hosts(_ connection: String) throws -> ConnectionHosts {
      try ConnectionHosts(ConnectionOptions(connection))
    }

    @Test func `A connection string has its hosts with their ports, as libpq pairs them`() throws {
      typealias Host = ConnectionHosts.Host
      let pairs = try self.hosts("host=a,b port=1,2 connect_timeout=1 target_session_attrs=prefer-standby")
      expect(pairs.all, equals: [Host(name: "a", port: "1"), Host(name: "b", port: "2")])
      expect(pairs.limit, equals: .seconds(2))
      expect(pairs.passes, equals: ["standby", "any"])
      let uri = try self.hosts("postgresql://user@a:1,b/app?connect_timeout=0")
      expect(uri.all, equals: [Host(name: "a", port: "1"), Host(name: "b", port: "5432")])
      expect(uri.limit, equals: nil)
      let one = try self.hosts("host=a,b port=7")
      expect(one.all.map(\.port), equals: ["7", "7"])
      let addresses = try self.hosts("host=a,b hostaddr=1.1.1.1,2.2.2.2 port=5433")
      expect(
        addresses.all.map { $0.options("").map(\.1) },
        equals: [["a", "1.1.1.1", "5433"], ["b", "2.2.2.2", "5433"]]
      )
      #expect(addresses.all.allSatisfy { !$0.hasAddresses })
      // libpq says what is wrong with these, or finds them elsewhere.
      for connection in ["host=a,b port=1,2,3", "host=a, port=5432", "service=somewhere", "dbname=app"] {
        let hosts = try self.hosts(connection).all
        #expect(hosts.count == 1 && hosts[0].options("").allSatisfy { $0.0 == "port" }, "\(connection)")
      }
      #expect(try !self.hosts("host=/tmp,@name").all.contains { $0.hasAddresses })
    }

    @Test func `A port or an option that is wrong is not told as a server that is away`() async throws {
      for connection in ["host=127.0.0.1 port=70000", "host=127.0.0.1,b port=1,2,3", "host=127.0.0.1 sslmode=always"] {
        let opening = try ConnectionOpening(connection, deadlines: .system)
        let error = await #expect(throws: PostgreSQLError.self) { try await opening.open(within: .seconds(30)) }
        expect(error?.code, equals: .invalidConnection, "\(String(describing: error))")
        expect(error?.message.contains("Correct the connection string"), equals: true)
      }
    }

    @Test(.needsServer) func `A first host that accepts and says nothing leaves time for the second`() async throws {
      let server = try await DatabaseServer(settings: Self.settings, port: try EncryptionTests.freePort())
      let hole = try SilentHost()
      let clock = ManualClock()
      func connection(_ hole: SilentHost) -> String {
        """
        host=127.0.0.1,127.0.0.1 port=\(hole.port),\(server.port) user=owner dbname=postgres \
        target_session_attrs=read-write
        """
      }
      let opening = try ConnectionOpening(connection(hole), deadlines: clock)
      let opened = Task { try await opening.open(within: .seconds(20)) }
      try await hole.isReached.wait()
      // A half of the time is for each of the two.
      clock.advance(by: .seconds(10))
      let answer = try await opened.value.perform(Statement("SELECT inet_server_port()"), within: .seconds(10))
      expect(answer.first?.integer(0), equals: Int64(server.port))
      try await opened.value.close()
      // What the string says is shorter.
      let other = try SilentHost()
      let short = try ConnectionOpening(connection(other) + " connect_timeout=3", deadlines: clock)
      let again = Task { try await short.open(within: .seconds(20)) }
      try await other.isReached.wait()
      clock.advance(by: .seconds(3))
      try await again.value.close()
    }

    @Test(.needsServer) func `A first address that says nothing leaves time for the second of a name`() async throws {
      let server = try await DatabaseServer(settings: Self.settings, port: try EncryptionTests.freePort())
      let hole = try SilentHost(address: "127.0.0.2", port: server.port)
      let clock = ManualClock()
      let opening = try ConnectionOpening(
        "host=db.test port=\(server.port) user=owner dbname=postgres",
        deadlines: clock,
        addresses: { $0 == "db.test" ? ["127.0.0.2", "127.0.0.1"] : [] }
      )
      let opened = Task { try await opening.open(within: .seconds(20)) }
      try await hole.isReached.wait()
      clock.advance(by: .seconds(10))
      try await opened.value.close()
    }

    @Test func `When no host answers, the error names each of them, and comes in time`() async throws {
      let holes = [try SilentHost(), try SilentHost()]
      let clock = ManualClock()
      let connection = "host=127.0.0.1,127.0.0.1 port=\(holes[0].port),\(holes[1].port) user=a dbname=b"
      let opening = try ConnectionOpening(connection, deadlines: clock)
      let opened = Task { await #expect(throws: PostgreSQLError.self) { try await opening.open(within: .seconds(4)) } }
      for hole in holes {
        try await hole.isReached.wait()
        clock.advance(by: .seconds(2))
      }
      let error = await opened.value
      expect(error?.code, equals: .unavailable)
      for hole in holes {
        let text = "at \"127.0.0.1\", port \(hole.port) failed: it has not answered within 2.0 s"
        expect(error?.message.contains(text), equals: true, "\(String(describing: error))")
      }
    }

    @Test func `A look-up of a name that does not end delays no other host for longer than its part`() async throws {
      let hole = try SilentHost()
      let clock = ManualClock()
      let (isAsked, isOver) = (Gate(), DispatchSemaphore(value: 0))
      let opening = try ConnectionOpening(
        "host=none.test,slow.test,127.0.0.1 port=1,1,\(hole.port) user=a dbname=b",
        deadlines: clock,
        addresses: { name in
          if name != "slow.test" { return name == "none.test" ? [] : [name] }
          isAsked.open()
          isOver.wait()
          return []
        }
      )
      let opened = Task { await #expect(throws: PostgreSQLError.self) { try await opening.open(within: .seconds(10)) } }
      try await isAsked.wait()
      clock.advance(by: .seconds(5))
      try await hole.isReached.wait()
      isOver.signal()
      clock.advance(by: .seconds(5))
      let message = await opened.value?.message ?? ""
      #expect(message.contains("the host \"none.test\" has no address; the look-up of the host \"slow.test\" has not"))
      #expect(message.contains("port \(hole.port) failed: it has not answered within 5.0 s"))
    }
  }

  /// A port that takes connections, on which nobody answers.
  final class SilentHost: Sendable {
    let port: Int
    /// Opens with the first connection.
    let isReached = Gate()
    private let socket: CInt

    init(address: String = "127.0.0.1", port: Int = 0) throws {
      let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      self.socket = socket
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = in_port_t(port).bigEndian
      name.sin_addr.s_addr = inet_addr(address)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
          bind(socket, name, length) == 0 && listen(socket, 100) == 0 && getsockname(socket, name, &length) == 0
        }
      }
      guard result else { throw DatabaseServer.Failure(description: "no port: \(String(cString: strerror(errno)))") }
      self.port = Int(in_port_t(bigEndian: name.sin_port))
      Thread.detachNewThread { [isReached] in
        let connection = accept(socket, nil, nil)
        if connection >= 0 { isReached.open() }
        // Until this host is gone.
        _ = accept(socket, nil, nil)
        if connection >= 0 { Glibc.close(connection) }
        Glibc.close(socket)
      }
    }

    deinit {
      shutdown(self.socket, CInt(SHUT_RDWR))
    }
  }
#endif
