#if SwiftOperationValkey && os(Linux)
  import Foundation
  import Glibc

  /// Sockets of this machine, for servers and proxies of tests.
  enum LocalSocket {
    /// The address of a port of this machine.
    static func address(ofPort port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      address.sin_port = in_port_t(port).bigEndian
      return address
    }

    /// Makes a socket that listens at a free port.
    ///
    /// - Returns: The socket and its port.
    /// - Throws: A failure if no port is free.
    static func listening() throws -> (listener: CInt, port: Int) {
      let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      var address = self.address(ofPort: 0)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(listener, address, length) == 0 && listen(listener, 100) == 0
            && getsockname(listener, address, &length) == 0
        }
      }
      guard result else { throw ValkeyServer.Failure(description: "no port: \(String(cString: strerror(errno)))") }
      return (listener, Int(in_port_t(bigEndian: address.sin_port)))
    }
  }
#endif
