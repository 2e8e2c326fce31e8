#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationFleet
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  /// Connections over TCP with TLS, whose options are those of libpq.
  @Suite(.bounded, .needsServer, .enabled(if: Certificate.canBeMade, "openssl is not installed."))
  struct EncryptionTests {
    private func start(_ certificate: Certificate) async throws -> DatabaseServer {
      try await DatabaseServer(
        settings: [
          "listen_addresses=127.0.0.1", "ssl=on", "ssl_cert_file=\(certificate.file)",
          "ssl_key_file=\(certificate.key)",
        ],
        port: try Self.freePort()
      )
    }

    @Test func `An encrypted connection carries statements, large values and notifications`() async throws {
      let certificate = try Certificate()
      let server = try await self.start(certificate)
      let connection = server.networkConnection("sslmode=verify-full sslrootcert=\(certificate.file)")
      let opened = try await ConnectionOpening(connection, deadlines: .system).open(within: .seconds(30))
      let statement = Statement("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
      try await expect(opened.perform(statement, within: .seconds(30)).first?.boolean(0), equals: true)
      opened.close()
      let storage = try PostgreSQLStorage(connection: connection, timeout: .seconds(30))
      let values = (0..<4).map { [UInt8](repeating: UInt8($0), count: 1_000_000 + $0) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, value) in values.enumerated() {
          group.addTask { try await storage.apply([.put(key: "large/\(number)", value: value)]) }
        }
        try await group.waitForAll()
      }
      try await expect(storage.entries(withPrefix: "large/").map(\.value), equals: values)
      await storage.close()
      let fleet = try PostgreSQLFleet(connection: connection, timeout: .seconds(30))
      let (isListening, isTold) = (Gate(), Gate())
      let subscription = fleet.messages { message in
        switch message {
        case .missed: isListening.open()
        case .invalidated: isTold.open()
        default: break
        }
      }
      try await isListening.wait(within: .seconds(30))
      _ = try await fleet.invalidate([FleetSubject("x")], by: "node")
      try await isTold.wait(within: .seconds(30))
      subscription.cancel()
      await fleet.close()
    }

    @Test func `A server with the certificate of another one is an error that says so`() async throws {
      let server = try await self.start(try Certificate())
      let other = try Certificate()
      let connection = server.networkConnection("sslmode=verify-full sslrootcert=\(other.file)")
      let storage = try PostgreSQLStorage(connection: connection, timeout: .seconds(3))
      let error = await #expect(throws: StorageError.self) { try await storage.keys() }
      expect(error?.code, equals: .cannotOpen, "\(String(describing: error))")
      expect(error?.message.contains("certificate verify failed"), equals: true, "\(String(describing: error))")
      await storage.close()
    }

    /// A port that nobody uses at this moment.
    static func freePort() throws -> Int {
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { Glibc.close(socket) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
        }
      }
      try #require(isBound)
      return Int(UInt16(bigEndian: address.sin_port))
    }
  }

  /// A certificate of 127.0.0.1 that is signed by itself, and its key, which the user of the server can read.
  private final class Certificate: Sendable {
    private static let program = "/usr/bin/openssl"

    static let canBeMade = FileManager.default.isExecutableFile(atPath: Certificate.program)

    private let folder: String

    var file: String { self.folder + "/server.crt" }
    var key: String { self.folder + "/server.key" }

    init() throws {
      self.folder = (NSTemporaryDirectory() as NSString)
        .appendingPathComponent("pg-certificate-\(UInt32.random(in: 0...(.max)))")
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: Self.program)
      process.arguments = [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=\(self.folder.suffix(10))", "-addext", "subjectAltName=IP:127.0.0.1",
        "-keyout", self.folder + "/server.key", "-out", self.folder + "/server.crt",
      ]
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0, "openssl has made no certificate")
      chmod(self.key, 0o600)
      for path in [self.folder, self.key] { DatabaseServer.giveAway(path) }
    }

    deinit {
      try? FileManager.default.removeItem(atPath: self.folder)
    }
  }
#endif
