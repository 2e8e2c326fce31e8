#if os(Linux)
  internal import OperationPlatform

  /// An address to look up a route to. Nothing is ever sent to it.
  struct NetworkDestination: Hashable, Sendable {
    let family: UInt8
    /// The 4 or 16 bytes of the address in network byte order.
    let bytes: [UInt8]

    /// Parses an address; nil for other text, such as a host name.
    init?(_ text: String) {
      for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard inet_pton(family, text, &bytes) == 1 else { continue }
        (self.family, self.bytes) = (UInt8(family), bytes)
        return
      }
      return nil
    }

    private init(family: UInt8, bytes: [UInt8]) {
      (self.family, self.bytes) = (family, bytes)
    }

    /// Addresses on the internet, to look up the default route: a root name server's.
    static let anywhere = [
      NetworkDestination(family: Netlink.ipv4, bytes: [198, 41, 0, 4]),
      NetworkDestination(
        family: Netlink.ipv6,
        bytes: [0x20, 0x01, 0x05, 0x03, 0xba, 0x3e, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x30]
      ),
    ]
  }
#endif
