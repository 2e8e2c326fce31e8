#if os(Linux)
  extension NetlinkNetworkObserver {
    /// A network interface, passed to the closure that excludes interfaces.
    public struct Interface: Hashable, Sendable {
      /// The name, such as `eth0`.
      public var name: String

      /// The index of the interface.
      public var index: Int

      /// The kind of virtual interface, such as `veth`, `bridge` or `wireguard`; nil for hardware.
      public var kind: String?

      /// The type of hardware, as an ARP number: 1 for Ethernet, 772 for loopback.
      public var hardwareType: Int

      /// Creates an interface.
      ///
      /// - Parameters:
      ///   - name: The name, such as `eth0`.
      ///   - index: The index of the interface.
      ///   - kind: The kind of virtual interface; nil for hardware.
      ///   - hardwareType: The type of hardware, as an ARP number.
      public init(name: String, index: Int, kind: String? = nil, hardwareType: Int = 1) {
        self.name = name
        self.index = index
        self.kind = kind
        self.hardwareType = hardwareType
      }

      init(_ link: NetworkLink) {
        self.init(name: link.name, index: link.index, kind: link.kind, hardwareType: link.hardwareType)
      }
    }
  }
#endif
