#if os(Linux)
  import Dispatch
  import Glibc
  import OperationTesting
  import Testing

  /// A socket of a service manager.
  final class SocketServer: Sendable {
    private let descriptor: CInt

    init(path: String) throws {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
      self.descriptor = descriptor
      let status = withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(status == 0)
      try #require(listen(descriptor, 4) == 0)
    }

    deinit {
      close(self.descriptor)
    }

    /// Waits for a connection.
    func accept() async throws -> SocketPeer {
      try await withTimeLimit("a connection") { [descriptor = self.descriptor] in
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async {
            continuation.resume(returning: SocketPeer(descriptor: Glibc.accept(descriptor, nil, nil)))
          }
        }
      }
    }
  }

  /// A connection to the server.
  struct SocketPeer: Sendable {
    let descriptor: CInt

    /// Waits for data; empty if the other side has hung up.
    func receive() -> String {
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = recv(self.descriptor, &buffer, buffer.count, 0)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    func send(_ text: String) {
      _ = Glibc.send(self.descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL))
    }

    /// Closes the connection for writing only.
    func endSending() {
      _ = shutdown(self.descriptor, CInt(SHUT_WR))
    }

    func close() {
      _ = Glibc.close(self.descriptor)
    }
  }
#endif
