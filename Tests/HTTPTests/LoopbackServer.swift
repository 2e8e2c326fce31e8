#if os(Linux)
  import Foundation
  import OperationEventLoop
  import OperationPlatform
  import TestFixtures
  import Testing

  /// A server of HTTP on the loopback interface. Each connection is one request, and has a thread of its own.
  final class LoopbackServer: Sendable {
    /// A request that the server has received, and the way back.
    struct Connection: Sendable {
      let socket: CInt
      /// The first line and the fields.
      let head: String
      let body: String

      /// Sends some of the answer. A client that has gone is no error.
      func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { bytes in
            OperationPlatform.send(self.socket, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
          }
          if count <= 0 { return }
          rest = rest.dropFirst(count)
        }
      }

      /// Sends an answer whose length is known.
      func answer(_ status: Int, _ fields: [String] = [], _ body: String = "") {
        let lines = ["HTTP/1.1 \(status) Status", "Content-Length: \(body.utf8.count)", "Connection: close"] + fields
        self.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
      }

      /// Blocks until the client has closed the connection.
      func waitForClose() {
        var byte: UInt8 = 0
        while recv(self.socket, &byte, 1, 0) > 0 {}
      }
    }

    let address: URL
    private let listener: CInt

    init(_ serve: @escaping @Sendable (Connection) -> Void) throws {
      let listener = socket(AF_INET, SocketType.stream | SocketType.closeOnExec, 0)
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &name) { name in
        name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
          bind(listener, name, length) == 0 && listen(listener, 256) == 0 && getsockname(listener, name, &length) == 0
        }
      }
      guard listener >= 0, isListening else { throw POSIXError(.EADDRNOTAVAIL) }
      self.listener = listener
      self.address = try #require(URL(string: "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))"))
      Thread.detachNewThread {
        while true {
          let socket = accept(listener, nil, nil)
          if socket < 0 { break }
          Thread.detachNewThread {
            if let connection = Self.connection(on: socket) { serve(connection) }
            shutdown(socket, CInt(SHUT_RDWR))
            close(socket)
          }
        }
        close(listener)
      }
    }

    deinit {
      // Ends the wait for connections.
      shutdown(self.listener, CInt(SHUT_RDWR))
    }

    func url(_ path: String) -> URL { self.address.appending(path: path) }

    private static func connection(on socket: CInt) -> Connection? {
      var received: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let text = String(decoding: received, as: UTF8.self)
        if let end = text.range(of: "\r\n\r\n") {
          let head = String(text[..<end.lowerBound])
          let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
          let length = line.flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) } ?? 0
          let body = text[end.upperBound...]
          if body.utf8.count >= length { return Connection(socket: socket, head: head, body: String(body)) }
        }
        let count = recv(socket, &buffer, buffer.count, 0)
        if count <= 0 { return nil }
        received.append(contentsOf: buffer[..<count])
      }
    }
  }
#endif
