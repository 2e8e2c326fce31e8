#if SwiftOperationValkey && os(Linux)
  import Foundation
  import Testing

  @testable import OperationValkey

  /// An authority, the certificate of a server at 127.0.0.1 and `cache.test`, and that of a client, in a temporary folder.
  final class Certificates: Sendable {
    static let program: String? = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }

    let folder = (NSTemporaryDirectory() as NSString).appendingPathComponent("tls-\(UInt32.random(in: 0...(.max)))")

    init() throws {
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
      try self.make("authority", "-x509", "-days", "2")
      try self.make("stranger", "-x509", "-days", "2")
      for name in ["server", "client"] { try self.makeSigned(name) }
    }

    deinit {
      try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// The path of a certificate.
    func certificate(_ name: String) -> String { "\(self.folder)/\(name).pem" }

    /// The path of its private key.
    func key(_ name: String) -> String { "\(self.folder)/\(name).key" }

    /// The settings of a server that listens with TLS.
    func settings(port: Int, asksForClients: Bool = false) -> [String] {
      [
        "--tls-port", "\(port)", "--tls-cert-file", self.certificate("server"), "--tls-key-file", self.key("server"),
        "--tls-ca-cert-file", self.certificate("authority"), "--tls-auth-clients", asksForClients ? "yes" : "no",
      ]
    }

    private func make(_ name: String, _ arguments: String...) throws {
      try self.run(
        ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)"]
          + ["-keyout", self.key(name), "-out", self.certificate(name)] + arguments
      )
    }

    private func makeSigned(_ name: String) throws {
      try self.make("\(name)-request")
      try FileManager.default.moveItem(atPath: self.key("\(name)-request"), toPath: self.key(name))
      let extensions = "\(self.folder)/\(name).extensions"
      try "subjectAltName=IP:127.0.0.1,DNS:cache.test\n".write(toFile: extensions, atomically: true, encoding: .utf8)
      try self.run(
        ["x509", "-req", "-in", self.certificate("\(name)-request"), "-days", "2", "-extfile", extensions]
          + ["-CA", self.certificate("authority"), "-CAkey", self.key("authority"), "-CAcreateserial"]
          + ["-out", self.certificate(name)]
      )
    }

    private func run(_ arguments: [String]) throws {
      let process = Process()
      process.executableURL = Self.program.map { URL(fileURLWithPath: $0) }
      process.arguments = arguments
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw ValkeyServer.Failure(description: "openssl \(arguments.joined(separator: " ")) has failed")
      }
    }
  }
#endif
