#if SwiftOperationValkey && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  @Suite(.bounded, .enabled(if: Certificates.program != nil, "The program openssl is not installed."))
  struct TLSTests {
    private let certificates: Certificates
    private let port: Int

    init() throws {
      self.certificates = try Certificates()
      self.port = try freePort()
    }

    private func fleet(_ tls: ValkeyTLS, scheme: String = "rediss", port: Int? = nil) throws -> ValkeyFleet {
      try ValkeyFleet(connection: "\(scheme)://127.0.0.1:\(port ?? self.port)", tls: tls, timeout: .seconds(60))
    }

    /// The error of a call.
    private func failure(of fleet: ValkeyFleet) async throws -> ValkeyError? {
      let error = await #expect(throws: FleetError.self) { try await fleet.lookUp([key("a")]) }
      await fleet.close()
      return error?.cause as? ValkeyError
    }

    private var trusting: ValkeyTLS { ValkeyTLS(certificateAuthorities: self.certificates.certificate("authority")) }

    @Test(.needsServer) func `A fleet keeps its values over TLS, short and long ones, and hears messages`() async throws
    {
      let server = try await ValkeyServer(settings: self.certificates.settings(port: self.port))
      let (fleet, other) = (try self.fleet(self.trusting), try self.fleet(self.trusting, scheme: "valkeys"))
      let (isListening, isHeard) = (Gate(), Gate())
      let subscription = other.messages { message in
        if message == .missed { isListening.open() }
        if case .invalidated = message { isHeard.open() }
      }
      // More than a record of TLS, than a piece that is read at once, and than a socket takes at once.
      for count in [0, 1, 16_384, 70_000, 3_000_000] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await fleet.put("value-\(count)", bytes)
        try await expect(other.value("value-\(count)"), equals: bytes)
      }
      // Many at once, whose answers come in their order.
      try await withThrowingTaskGroup { group in
        for number in 0..<200 {
          group.addTask {
            try await fleet.put("key-\(number)", [UInt8(number)])
            try await expect(other.value("key-\(number)"), equals: [UInt8(number)])
          }
        }
        try await group.waitForAll()
      }
      try await isListening.wait()
      try await fleet.invalidate("value-1")
      try await isHeard.wait()
      subscription.cancel()
      await fleet.close()
      await other.close()
      withExtendedLifetime(server) {}
    }

    @Test(.needsServer) func `A server whose certificate is signed by a stranger is not trusted`() async throws {
      let server = try await ValkeyServer(settings: self.certificates.settings(port: self.port))
      let stranger = ValkeyTLS(certificateAuthorities: self.certificates.certificate("stranger"))
      for tls in [ValkeyTLS(), stranger] {
        let error = try await self.failure(of: self.fleet(tls))
        expect(error?.code, equals: .untrusted)
        expect(error?.message.contains("certificate is not accepted: "), equals: true, "\(String(describing: error))")
        expect(error?.message.contains("by `tls:`"), equals: true)
      }
      withExtendedLifetime(server) {}
    }

    @Test(.needsServer) func `The name of the certificate has to be that of the host`() async throws {
      let server = try await ValkeyServer(settings: self.certificates.settings(port: self.port))
      var tls = self.trusting
      tls.serverName = "other.test"
      let error = try await self.failure(of: self.fleet(tls))
      #expect(
        error?.code == .untrusted && error?.message.contains("ostname mismatch") == true,
        "\(String(describing: error))"
      )
      tls.serverName = "cache.test"
      let fleet = try self.fleet(tls)
      try await fleet.put("a", [1])
      await fleet.close()
      withExtendedLifetime(server) {}
    }

    @Test(.needsServer) func `A server that asks for a certificate gets that of the program`() async throws {
      let server = try await ValkeyServer(
        settings: self.certificates.settings(port: self.port, asksForClients: true)
      )
      let error = try await self.failure(of: self.fleet(self.trusting))
      #expect(
        error?.code == .untrusted && error?.message.contains("certificate") == true,
        "\(String(describing: error))"
      )
      var tls = self.trusting
      tls.certificate = self.certificates.certificate("client")
      tls.privateKey = self.certificates.key("client")
      let fleet = try self.fleet(tls)
      try await fleet.put("a", [1])
      await fleet.close()
      withExtendedLifetime(server) {}
    }

    @Test func `A server without TLS, which waits for the rest of a request, is named as such`() async throws {
      let (host, clock) = (try FakeHost(), ManualClock())
      let opening = try ConnectionOpening(ServerAddress("rediss://127.0.0.1:\(host.port)"), deadlines: clock)
      let opened = Task { await #expect(throws: ValkeyError.self) { try await opening.open(within: .seconds(6)) } }
      try await host.isReached.wait()
      try await clock.sleepers(count: 1)
      clock.advance(by: .seconds(6))
      let error = await opened.value
      expect(error?.code, equals: .unavailable)
      expect(
        error?.message.contains("within 6.0 s, perhaps as it has no TLS"),
        equals: true,
        "\(String(describing: error))"
      )
    }

    @Test func `A server that answers TLS with something else is not trusted`() async throws {
      let host = try FakeHost(answer: "-ERR unknown command\r\n")
      let error = try await self.failure(of: self.fleet(self.trusting, port: host.port))
      #expect(
        error?.code == .untrusted && error?.message.contains("or \"redis://\" if") == true,
        "\(String(describing: error))"
      )
    }

    @Test func `A file that cannot be used is named when the fleet is made`() throws {
      let settings = [
        ("certificateAuthorities", ValkeyTLS(certificateAuthorities: "/nowhere/ca.pem")),
        ("certificate", ValkeyTLS(certificate: "/nowhere/client.pem")),
        (
          "privateKey",
          ValkeyTLS(
            certificate: self.certificates.certificate("client"),
            privateKey: self.certificates.certificate("client")
          )
        ),
        (
          "privateKey",
          ValkeyTLS(certificate: self.certificates.certificate("client"), privateKey: self.certificates.key("server"))
        ),
      ]
      for (setting, tls) in settings {
        let error = #expect(throws: FleetError.self) { try self.fleet(tls) }
        let cause = error?.cause as? ValkeyError
        expect(cause?.code, equals: .invalidConnection)
        expect(error?.message.contains("of `\(setting)`"), equals: true, "\(String(describing: error))")
        // Without TLS, no file is read.
        _ = try self.fleet(tls, scheme: "redis")
      }
    }
  }
#endif
