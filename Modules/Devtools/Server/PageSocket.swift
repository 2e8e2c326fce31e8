#if SwiftOperationDevtools
  internal import Dispatch
  internal import OperationPlatform

  /// A socket that does not block. It is closed when its last user has released it.
  final class PageSocket: Sendable {
    let descriptor: CInt
    /// Is entered until the socket is closed.
    private let open: DispatchGroup

    /// Takes a socket over.
    init(_ descriptor: CInt, in group: DispatchGroup) {
      self.descriptor = descriptor
      self.open = group
      group.enter()
      // A child process gets no copy, which would keep the connection open.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      #if canImport(Darwin)
        // On Linux each call of `send` says so.
        var isOn: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size))
      #endif
    }

    deinit {
      close(self.descriptor)
      self.open.leave()
    }

    /// Listens at a port of the loopback interface.
    convenience init(listeningAt port: UInt16, in group: DispatchGroup) throws(DevtoolsError) {
      let descriptor = socket(AF_INET, SocketType.stream, 0)
      guard descriptor >= 0 else { throw .unserved(port) }
      self.init(descriptor, in: group)
      var isOn: CInt = 1
      // The port of a program that has just ended can be used again.
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
      let result = sockaddr_in(loopbackPort: port).withAnyAddress { bind(descriptor, $0, $1) }
      guard result == 0, listen(descriptor, 64) == 0 else { throw .unserved(port) }
    }

    /// The port at which it listens.
    var port: UInt16 {
      var address = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(self.descriptor, $0, &size) }
      }
      return UInt16(bigEndian: address.sin_port)
    }

    enum Accepted {
      case socket(PageSocket)
      /// No connection waits at this moment.
      case noConnection
      /// The process or the system has no room for another descriptor.
      case noRoom
    }

    /// Takes the next connection of a socket that listens, as the function of the system does.
    ///
    /// - Returns: The descriptor of the connection; a negative number if there is none, with the reason in `errno`.
    typealias Accepting = @Sendable (_ descriptor: CInt) -> CInt

    /// Takes the next connection.
    ///
    /// - Parameters:
    ///   - group: The group that the socket of the connection enters.
    ///   - accept: The function of the system, or one of a test.
    /// - Returns: The connection, or why there is none.
    func accept(in group: DispatchGroup, by accept: Accepting) -> Accepted {
      while true {
        let descriptor = accept(self.descriptor)
        if descriptor >= 0 { return .socket(PageSocket(descriptor, in: group)) }
        switch errno {
        // The connection has ended before it was taken.
        case EINTR, ECONNABORTED: continue
        case EAGAIN: return .noConnection
        default: return .noRoom
        }
      }
    }

    /// What a call has moved.
    enum Moved {
      case bytes(Int)
      case nothingYet
      case end
    }

    /// Reads what has arrived, as much as there is room for.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Moved {
      self.moved { recv(self.descriptor, buffer.baseAddress, buffer.count, 0) }
    }

    /// Writes what can be written at once.
    func write(_ bytes: ArraySlice<UInt8>) -> Moved {
      #if canImport(Darwin)
        let flags: CInt = 0
      #else
        // A page that has gone is an error, and no signal that ends the program.
        let flags = CInt(MSG_NOSIGNAL)
      #endif
      return bytes.withUnsafeBytes { bytes in
        self.moved { send(self.descriptor, bytes.baseAddress, bytes.count, flags) }
      }
    }

    private func moved(_ call: () -> Int) -> Moved {
      while true {
        let count = call()
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        switch errno {
        case EINTR: continue
        case EAGAIN: return .nothingYet
        default: return .end
        }
      }
    }

    /// Tells the other side that nothing more comes.
    func endWriting() { _ = shutdown(self.descriptor, CInt(SHUT_WR)) }

    /// Ends the connection for both sides, although the socket is closed later.
    func end() { _ = shutdown(self.descriptor, CInt(SHUT_RDWR)) }
  }

  extension DevtoolsError {
    /// With the words of the system for the last error of a call.
    fileprivate static func unserved(_ port: UInt16) -> DevtoolsError {
      let what = port == 0 ? "No port can be served" : "The port \(port) cannot be served"
      return DevtoolsError(code: .portNotServed, description: "\(what): \(String(cString: strerror(errno))).")
    }
  }
#endif
