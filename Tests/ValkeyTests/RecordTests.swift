#if SwiftOperationValkey && os(Linux)
  import OperationCore
  import OperationFleet
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationValkey

  /// TLS over a network that cuts records, and damages, ends, doubles or loses one.
  @Suite(
    .bounded,
    .enabled(if: Certificates.program != nil, "The program openssl is not installed."),
    .needsServer
  )
  struct RecordTests {
    private let certificates: Certificates
    private let serverPort: Int

    init() throws {
      self.certificates = try Certificates()
      self.serverPort = try freePort()
    }

    /// Runs a test with a fleet whose records a proxy passes on.
    private func withProxy(seed: UInt64, _ body: (ValkeyFleet, RecordProxy) async throws -> Void) async throws {
      let server = try await ValkeyServer(settings: self.certificates.settings(port: self.serverPort))
      let proxy = try RecordProxy(to: self.serverPort, seed: seed)
      let fleet = try ValkeyFleet(
        connection: "rediss://127.0.0.1:\(proxy.port)",
        tls: ValkeyTLS(certificateAuthorities: self.certificates.certificate("authority")),
        timeout: .seconds(60)
      )
      try await body(fleet, proxy)
      await fleet.close()
      withExtendedLifetime(server) {}
    }

    private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* 7) }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `Records that are cut anywhere are the values that were stored`(
      seed: UInt64
    ) async throws {
      try await self.withProxy(seed: seed) { fleet, _ in
        for count in [0, 1, 100, 16_384, 70_000, 1_000_000] {
          try await fleet.put("value-\(count)", Self.bytes(count, count))
          try await expect(fleet.value("value-\(count)"), equals: Self.bytes(count, count))
        }
        try await withThrowingTaskGroup { group in
          for number in 0..<100 {
            group.addTask {
              try await fleet.put("key-\(number)", Self.bytes(number, 500))
              try await expect(fleet.value("key-\(number)"), equals: Self.bytes(number, 500))
            }
          }
          try await group.waitForAll()
        }
      }
    }

    @Test(arguments: [RecordProxy.Fault.damaged, .truncated, .doubled])
    func `After a record that is not as it was sent the fleet connects again, and no value is wrong`(
      fault: RecordProxy.Fault
    ) async throws {
      try await self.withProxy(seed: 7) { fleet, proxy in
        for number in 0..<8 { try await fleet.put("\(number)", Self.bytes(number, 3_000)) }
        for round in 1...20 {
          proxy.harmNext(fault)
          // Several calls, whose answers share records and the connection that is lost.
          await withTaskGroup { group in
            for number in 0..<8 {
              group.addTask {
                do {
                  let value = try await fleet.value("\(number)")
                  expect(value, equals: Self.bytes(number, 3_000), "a wrong value in round \(round)")
                } catch {
                  expect((error as? FleetError)?.code, equals: .unreachable, "\(error)")
                }
              }
            }
          }
          expect(proxy.faultCount, equals: round)
          for number in 0..<8 {
            try await expect(fleet.lookUpWhenBack("\(number)").values[0]?.bytes, equals: Self.bytes(number, 3_000))
          }
        }
      }
    }

    @Test func `A lost record is an error of those after it, and no answer is taken for another one`() async throws {
      try await self.withProxy(seed: 8) { fleet, proxy in
        for number in 0..<8 { try await fleet.put("\(number)", Self.bytes(number, 3_000)) }
        for round in 1...10 {
          proxy.harmNext(.lost)
          let calls = (0..<8).map { number in Task { (number, try await fleet.value("\(number)")) } }
          for call in calls {
            guard case .success(let (number, value)) = await call.result else { continue }
            expect(value, equals: Self.bytes(number, 3_000), "a wrong value in round \(round)")
          }
          expect(proxy.faultCount, equals: round)
        }
      }
    }

    @Test func `After a damaged message the connection that listens is opened again`() async throws {
      try await self.withProxy(seed: 9) { fleet, proxy in
        let heard = MessageLog()
        let subscription = fleet.messages { heard.add($0) }
        try await heard.wait(for: .missed)
        try await heard.wait(for: .invalidated(try await fleet.invalidate("x")))
        // Calls use the second connection. The first one listens. Each later one listens, too, after the one before is lost.
        for (round, connection) in [0, 2, 3, 4, 5].enumerated() {
          proxy.harmNext(.damaged, onConnection: connection)
          try await fleet.invalidate("x")
          try await heard.wait(for: .missed, times: round + 2)
        }
        expect(proxy.faultCount, equals: 5)
        try await heard.wait(for: .invalidated(try await fleet.invalidate("y")))
        subscription.cancel()
      }
    }
  }
#endif
