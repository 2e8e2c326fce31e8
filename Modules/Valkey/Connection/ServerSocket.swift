#if SwiftOperationValkey
  internal import OperationPlatform

  /// A socket that does not block. It is closed when its last user has released it.
  final class ServerSocket: Sendable {
    /// What a call has moved.
    enum Moved {
      case bytes(Int)
      case nothingYet
      case end(reason: String)
    }

    let descriptor: CInt

    private init(family: CInt) throws(SocketFailure) {
      self.descriptor = socket(family, SocketType.stream, 0)
      guard self.descriptor >= 0 else { throw .last() }
      // A child process gets no copy, which would keep the connection open.
      _ = fcntl(self.descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(self.descriptor, F_SETFL, O_NONBLOCK)
      var isOn: CInt = 1
      let size = socklen_t(MemoryLayout<CInt>.size)
      #if canImport(Darwin)
        // On Linux each call of `send` says so.
        setsockopt(self.descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, size)
      #endif
      // So that a server that has vanished is noticed while nothing is asked.
      setsockopt(self.descriptor, SOL_SOCKET, SO_KEEPALIVE, &isOn, size)
      guard family != AF_UNIX else { return }
      // A request is one piece: nothing follows that it could wait for.
      setsockopt(self.descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
    }

    deinit {
      close(self.descriptor)
    }

    /// Begins to connect: the socket is writable when that has ended.
    ///
    /// - Parameters:
    ///   - address: An address in digits.
    ///   - port: The number of a port.
    /// - Returns: The socket.
    /// - Throws: A ``SocketFailure``.
    static func connect(to address: String, port: String) throws(SocketFailure) -> ServerSocket {
      var hints = addrinfo()
      hints.ai_family = AF_UNSPEC
      hints.ai_socktype = SocketType.stream
      // Nothing is looked up, which could block.
      hints.ai_flags = CInt(AI_NUMERICHOST) | CInt(AI_NUMERICSERV)
      var found: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(address, port, &hints, &found) == 0, let entry = found?.pointee else {
        throw SocketFailure(reason: "\(address) is no address")
      }
      defer { freeaddrinfo(found) }
      let socket = try ServerSocket(family: entry.ai_family)
      try socket.begin(OperationPlatform.connect(socket.descriptor, entry.ai_addr, entry.ai_addrlen))
      return socket
    }

    /// Begins to connect to a socket of the local system.
    static func connect(toPath path: String) throws(SocketFailure) -> ServerSocket {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let name = Array(path.utf8)
      // A zero byte follows the name.
      guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
        throw SocketFailure(reason: "the path of the socket is too long")
      }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
      let socket = try ServerSocket(family: AF_UNIX)
      let status = withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          OperationPlatform.connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try socket.begin(status)
      return socket
    }

    private func begin(_ status: CInt) throws(SocketFailure) {
      guard status == 0 || errno == EINPROGRESS else { throw .last() }
    }

    /// Throws why connecting has failed, if it has.
    func finishConnecting() throws(SocketFailure) {
      var code: CInt = 0
      var size = socklen_t(MemoryLayout<CInt>.size)
      guard getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { throw .last() }
      if code != 0 { throw SocketFailure(code: code) }
    }

    /// Reads what has arrived, as much as there is room for.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Moved {
      Self.moved { recv(self.descriptor, buffer.baseAddress, buffer.count, 0) }
    }

    /// Writes what can be written at once.
    func write(_ bytes: ArraySlice<UInt8>) -> Moved {
      #if canImport(Darwin)
        let flags: CInt = 0
      #else
        // A server that has gone is an error, and no signal that ends the program.
        let flags = CInt(MSG_NOSIGNAL)
      #endif
      return bytes.withUnsafeBytes { bytes in
        Self.moved { send(self.descriptor, bytes.baseAddress, bytes.count, flags) }
      }
    }

    private static func moved(_ call: () -> Int) -> Moved {
      while true {
        let count = call()
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end(reason: "the other side has ended it") }
        switch errno {
        case EINTR: continue
        case EAGAIN: return .nothingYet
        default: return .end(reason: SocketFailure.last().reason)
        }
      }
    }
  }

  /// Why a call of the system has failed.
  struct SocketFailure: Error {
    let reason: String

    init(reason: String) {
      self.reason = reason
    }

    init(code: CInt) {
      self.reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }

    /// The failure of the last call of this thread.
    static func last() -> Self { Self(code: errno) }
  }
#endif
