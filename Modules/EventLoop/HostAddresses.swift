internal import OperationPlatform

/// Looks up the addresses of a host. It blocks its thread.
package enum HostAddresses {
  /// The addresses in the order in which they are to be tried; empty if there are none.
  package static func find(_ name: String) -> [String] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = SocketType.stream
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var addresses: [String] = []
    var next = first
    while let entry = next?.pointee {
      let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1_025) { buffer -> String? in
        let isRead = getnameinfo(
          entry.ai_addr,
          entry.ai_addrlen,
          buffer.baseAddress,
          socklen_t(buffer.count),
          nil,
          0,
          NI_NUMERICHOST
        )
        return isRead == 0 ? buffer.baseAddress.map { String(cString: $0) } : nil
      }
      if let text, !addresses.contains(text) { addresses.append(text) }
      next = entry.ai_next
    }
    return addresses
  }
}
