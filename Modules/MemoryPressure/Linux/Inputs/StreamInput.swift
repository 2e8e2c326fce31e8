#if os(Linux)
  internal import OperationEventLoop
  internal import OperationPlatform

  /// A named pipe or a socket of the service manager: any data that arrives means that memory is short.
  final class StreamInput: PressureInput {
    let descriptor: CInt
    let events = EventLoop.Events.readable

    /// How much is read at a time: the default capacity of a pipe. The loop reports remaining data again, so a peer
    /// that writes without end does not block other callbacks.
    private static let limit = 64 << 10

    private init(descriptor: CInt) {
      self.descriptor = descriptor
    }

    deinit {
      close(self.descriptor)
    }

    /// Opens a named pipe. It is opened for writing too, so that it does not hang up when the other side closes it.
    static func pipe(path: String, writing bytes: [UInt8]) throws(SystemFailure) -> StreamInput {
      let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemFailure(call: "open", code: errno) }
      let input = StreamInput(descriptor: descriptor)
      guard write(descriptor, bytes, bytes.count) == bytes.count else {
        throw SystemFailure(call: "write", code: errno)
      }
      // This end, too, could read the bytes, which are meant for the other end.
      if !bytes.isEmpty { _ = input.drain() }
      return input
    }

    /// Connects to a socket.
    static func socket(path: String, writing bytes: [UInt8]) throws(SystemFailure) -> StreamInput {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let name = Array(path.utf8)
      // The name must be followed by a zero byte.
      guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
        throw SystemFailure(call: "connect", code: ENAMETOOLONG)
      }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
      let descriptor = openSocket()
      guard descriptor >= 0 else { throw SystemFailure(call: "socket", code: errno) }
      let input = StreamInput(descriptor: descriptor)
      let status = withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      guard status == 0 else { throw SystemFailure(call: "connect", code: errno) }
      // If the other end is closed, the call must not raise a signal that ends the process.
      guard send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
        throw SystemFailure(call: "send", code: errno)
      }
      return input
    }

    func read(_ events: EventLoop.Events, at time: Duration) -> PressureReading {
      if events.contains(.readable) {
        let (count, isOpen) = self.drain()
        if count > 0 { return .pressure(.warning) }
        if !isOpen { return .gone }
      }
      return events.isDisjoint(with: [.error, .hangUp, .invalid]) ? .nothing : .gone
    }

    /// Reads the available data, and returns whether more may come.
    private func drain() -> (count: Int, isOpen: Bool) {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      var total = 0
      while total < Self.limit {
        let count = buffer.withUnsafeMutableBytes { readBytes(self.descriptor, $0) }
        if count > 0 {
          total += count
        } else if count < 0, errno == EINTR {
          continue
        } else {
          return (total, count < 0 && errno == EAGAIN)
        }
      }
      return (total, true)
    }
  }

  // Outside of the class, whose own `socket` and `read` hide the system's.

  private func openSocket() -> CInt {
    socket(AF_UNIX, SocketType.stream | SocketType.closeOnExec | SocketType.nonblocking, 0)
  }

  private func readBytes(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
  }
#endif
