#if os(Linux)
  extension NetlinkNetworkObserver {
    /// An interface of the network, for the decision whether it counts.
    public struct Interface: Hashable, Sendable {
      /// Its name, such as `eth0`.
      public var name: String

      /// Its number.
      public var index: Int

      /// What kind of virtual interface it is, such as `veth`, `bridge` or `wireguard`; nil for hardware.
      public var kind: String?

      /// What kind of hardware it is, by the numbers of ARP: 1 for Ethernet, 772 for loopback.
      public var hardwareType: Int

      /// Creates an interface.
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
