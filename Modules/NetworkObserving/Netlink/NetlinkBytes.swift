#if os(Linux)
  /// The numbers of the kernel's interface: they are part of its ABI and never change.
  enum Netlink {
    static let familyRoute: Int32 = 0
    static let socketOptionLevel: Int32 = 270
    static let strictCheckOption: Int32 = 12

    /// The multicast groups for changes of links, addresses and routes.
    static let changeGroups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    static let headerSize = 16
    static let linkSize = 16
    static let addressSize = 8
    static let routeSize = 12
    static let attributeHeaderSize = 4

    enum MessageType {
      static let error: UInt16 = 2
      static let done: UInt16 = 3
      static let overrun: UInt16 = 4
      static let newLink: UInt16 = 16
      static let getLink: UInt16 = 18
      static let newAddress: UInt16 = 20
      static let getAddress: UInt16 = 22
      static let newRoute: UInt16 = 24
      static let getRoute: UInt16 = 26
    }

    enum Flags {
      static let request: UInt16 = 0x1
      static let dump: UInt16 = 0x300
      static let dumpInterrupted: UInt16 = 0x10
    }

    enum LinkAttribute {
      static let name: UInt16 = 3
      static let master: UInt16 = 10
      static let info: UInt16 = 18
      static let infoKind: UInt16 = 1
    }

    enum LinkFlags {
      static let up: UInt32 = 0x1
      static let loopback: UInt32 = 0x8
      static let running: UInt32 = 0x40
      static let lowerUp: UInt32 = 0x1_0000
    }

    enum AddressAttribute {
      static let address: UInt16 = 1
      static let local: UInt16 = 2
      static let flags: UInt16 = 8
    }

    enum AddressFlags {
      static let optimistic: UInt32 = 0x4
      static let failed: UInt32 = 0x8
      static let tentative: UInt32 = 0x40
    }

    enum RouteAttribute {
      static let destination: UInt16 = 1
      static let outputLink: UInt16 = 4
      static let preferredSource: UInt16 = 7
      static let multipath: UInt16 = 9
      static let table: UInt16 = 15
    }

    static let universeScope: UInt8 = 0
    static let hostScope: UInt8 = 254
    static let mainTable: UInt32 = 254
    static let unicastRoute: UInt8 = 1
    static let localRoute: UInt8 = 2
    static let ipv4: UInt8 = 2
    static let ipv6: UInt8 = 10

    /// Whether an address is link-local: 169.254/16 or fe80::/10.
    ///
    /// Checked by prefix, because the kernel accepts any scope for 169.254/16.
    static func isLinkLocal(_ address: some Collection<UInt8>) -> Bool {
      let start = Array(address.prefix(2))
      return switch address.count {
      case 4: start == [169, 254]
      case 16: start[0] == 0xfe && start[1] & 0xc0 == 0x80
      default: false
      }
    }

    /// Messages and attributes begin at multiples of four bytes.
    static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
  }

  extension ArraySlice<UInt8> {
    /// The integer in native byte order at `offset` bytes into the slice; nil if it does not fit.
    func integer<T: FixedWidthInteger>(at offset: Int, as type: T.Type = T.self) -> T? {
      guard offset >= 0, offset <= self.count - MemoryLayout<T>.size else { return nil }
      return self.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
    }

    /// The bytes before the first zero, as text.
    var text: String { String(decoding: self.prefix { $0 != 0 }, as: UTF8.self) }
  }

  extension [UInt8] {
    /// Appends an integer in native byte order.
    mutating func append(integer: some FixedWidthInteger) {
      Swift.withUnsafeBytes(of: integer) { self.append(contentsOf: $0) }
    }
  }
#endif
