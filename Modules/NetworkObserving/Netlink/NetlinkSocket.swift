#if os(Linux)
  internal import OperationEventLoop
  internal import OperationPlatform

  /// A netlink socket for the state of the network.
  final class NetlinkSocket: NetlinkChannel, NetworkChangeFeed {
    let descriptor: CInt

    /// - Parameter groups: The changes to be notified of; 0 for a socket that sends requests.
    /// - Throws: The system call that has failed: `socket` or `bind`.
    init(groups: UInt32) throws(SystemFailure) {
      let descriptor = socket(AF_NETLINK, SocketType.raw | SocketType.closeOnExec, Netlink.familyRoute)
      guard descriptor >= 0 else { throw SystemFailure(call: "socket", code: errno) }
      self.descriptor = descriptor
      // Old kernels lack strict checking. They send more than was requested, which this module filters.
      var strict: CInt = 1
      let size = socklen_t(MemoryLayout<CInt>.size)
      _ = setsockopt(descriptor, Netlink.socketOptionLevel, Netlink.strictCheckOption, &strict, size)
      var timeout = timeval(tv_sec: 1, tv_usec: 0)
      _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      var address: [UInt8] = []
      address.append(integer: UInt16(AF_NETLINK))
      address.append(integer: UInt16(0))
      address.append(integer: UInt32(0))
      address.append(integer: groups)
      let status = address.withUnsafeBytes { address in
        bind(descriptor, address.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(address.count))
      }
      guard status == 0 else { throw SystemFailure(call: "bind", code: errno) }
    }

    deinit {
      close(self.descriptor)
    }

    func send(_ bytes: [UInt8]) throws(SystemFailure) {
      while Self.send(self.descriptor, bytes) < 0 {
        guard errno == EINTR else { throw SystemFailure(call: "send", code: errno) }
      }
    }

    func receive(capacity: Int) throws(SystemFailure) -> NetlinkDatagram {
      var bytes = [UInt8](repeating: 0, count: capacity)
      var address = [UInt8](repeating: 0, count: 12)
      while true {
        let length = Self.receive(self.descriptor, &bytes, &address)
        if length >= 0 {
          let sender: UInt32 = address[...].integer(at: 4) ?? 0
          return NetlinkDatagram(bytes: Array(bytes.prefix(length)), length: length, sender: sender)
        }
        guard errno == EINTR else { throw SystemFailure(call: "recvfrom", code: errno) }
      }
    }

    func drain() -> Bool {
      var hasChanged = false
      // If messages arrive faster than they are read, the rest is left for the next call.
      for _ in 0..<10_000 {
        var byte: UInt8 = 0
        if recv(self.descriptor, &byte, 1, CInt(MSG_DONTWAIT)) >= 0 {
          hasChanged = true
        } else if errno == EAGAIN {
          return hasChanged
        } else if errno != EINTR {
          // Messages have been lost, which also counts as a change. Reading the error has cleared it.
          hasChanged = true
          if errno != ENOBUFS { return hasChanged }
        }
      }
      return hasChanged
    }

    private static func send(_ descriptor: CInt, _ bytes: [UInt8]) -> Int {
      OperationPlatform.send(descriptor, bytes, bytes.count, 0)
    }

    /// Returns the full length, even if the datagram was truncated.
    private static func receive(_ descriptor: CInt, _ bytes: inout [UInt8], _ address: inout [UInt8]) -> Int {
      var size = socklen_t(address.count)
      return address.withUnsafeMutableBytes { address in
        recvfrom(
          descriptor,
          &bytes,
          bytes.count,
          CInt(MSG_TRUNC),
          address.assumingMemoryBound(to: sockaddr.self).baseAddress,
          &size
        )
      }
    }
  }
#endif
