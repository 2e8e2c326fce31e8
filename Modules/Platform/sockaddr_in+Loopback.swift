#if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
  extension sockaddr_in {
    /// A port of the loopback interface.
    package init(loopbackPort port: UInt16) {
      self.init()
      self.sin_family = sa_family_t(AF_INET)
      self.sin_port = port.bigEndian
      self.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    }

    /// Passes the address to a function of the system that takes one of any family.
    package func withAnyAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
      withUnsafePointer(to: self) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          body(address, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
  }
#endif
