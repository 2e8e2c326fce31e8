#if os(Linux)
  internal import OperationEventLoop
  internal import OperationPlatform

  /// Checks whether the kernel has a route, on systems that do not answer netlink requests.
  enum DatagramProbe {
    /// Connects a datagram socket, which looks up the route and sends nothing.
    static func hasRoute(to destination: NetworkDestination) throws(SystemFailure) -> Bool {
      let descriptor = socket(CInt(destination.family), SocketType.datagram | SocketType.closeOnExec, 0)
      guard descriptor >= 0 else {
        if errno == EAFNOSUPPORT { return false }
        throw SystemFailure(call: "socket", code: errno)
      }
      defer { close(descriptor) }
      let address = Self.socketAddress(of: destination)
      let isConnected = address.withUnsafeBytes { address in
        connect(descriptor, address.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(address.count)) == 0
      }
      guard isConnected else { return false }
      // A link-local source address reaches only hosts on its own link.
      return Netlink.isLinkLocal(destination.bytes) || !Netlink.isLinkLocal(Self.source(of: descriptor))
    }

    /// The source address of a connected socket.
    private static func source(of descriptor: CInt) -> ArraySlice<UInt8> {
      var bytes = [UInt8](repeating: 0, count: 28)
      var size = socklen_t(bytes.count)
      let status = bytes.withUnsafeMutableBytes { bytes in
        getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
      }
      guard status == 0, let family: UInt16 = bytes[...].integer(at: 0) else { return [] }
      return family == UInt16(Netlink.ipv6) ? bytes[8..<24] : bytes[4..<8]
    }

    private static func socketAddress(of destination: NetworkDestination) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(integer: UInt16(destination.family))
      // The port does not matter.
      bytes.append(integer: UInt16(53).bigEndian)
      // IPv6 has flow information before the address and a scope after it; IPv4 is padded to 16 bytes.
      if destination.family == Netlink.ipv6 { bytes.append(integer: UInt32(0)) }
      bytes += destination.bytes
      let size = destination.family == Netlink.ipv6 ? 28 : 16
      return bytes + [UInt8](repeating: 0, count: size - bytes.count)
    }
  }
#endif
