#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Finds out whether the kernel knows a way, where it answers no questions.
  ///
  /// Connecting a datagram socket looks for the way and sends nothing.
  enum DatagramProbe {
    static func hasWay(to destination: NetworkDestination) throws(SystemFailure) -> Bool {
      let descriptor = socket(CInt(destination.family), SocketType.datagram, 0)
      guard descriptor >= 0 else {
        if errno == EAFNOSUPPORT { return false }
        throw SystemFailure(call: "socket", code: errno)
      }
      defer { close(descriptor) }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let address = Self.socketAddress(of: destination)
      return address.withUnsafeBytes { address in
        connect(descriptor, address.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(address.count)) == 0
      }
    }

    private static func socketAddress(of destination: NetworkDestination) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(integer: UInt16(destination.family))
      // Any port will do.
      bytes.append(integer: UInt16(53).bigEndian)
      // IPv6 has a flow before the address, and a scope after it; IPv4 is filled up to 16.
      if destination.family == Netlink.ipv6 { bytes.append(integer: UInt32(0)) }
      bytes += destination.bytes
      let size = destination.family == Netlink.ipv6 ? 28 : 16
      return bytes + [UInt8](repeating: 0, count: size - bytes.count)
    }
  }
#endif
