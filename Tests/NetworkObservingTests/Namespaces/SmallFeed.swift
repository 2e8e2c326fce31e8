#if os(Linux)
  import Dispatch
  import Foundation
  import Glibc

  @testable import OperationNetworkObserving

  extension NetworkNamespace {
    /// A feed that loses messages soon.
    func smallFeed() throws(SystemFailure) -> NetlinkSocket {
      let socket = try self.open { () throws(SystemFailure) in try NetlinkSocket(groups: Netlink.changeGroups) }
      var size: CInt = 2_048
      setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
      return socket
    }

    /// How many packets have been sent through a link.
    func sentPackets(_ name: String) -> Int? {
      self.sync {
        let lines = (try? String(contentsOfFile: "/proc/thread-self/net/dev", encoding: .utf8)) ?? ""
        let line = lines.split(separator: "\n").first { $0.contains("\(name):") }
        let fields = line?.split(separator: ":").last?.split(separator: " ") ?? []
        return fields.count > 9 ? Int(fields[9]) : nil
      }
    }
  }

  extension NetlinkSocket {
    /// The error that a look at the messages ends with, once they have been read.
    func firstFailure() -> CInt {
      var byte: UInt8 = 0
      while recv(self.descriptor, &byte, 1, CInt(MSG_DONTWAIT)) >= 0 {}
      return errno
    }
  }

  /// Holds a thread up.
  final class BlockingGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { self.semaphore.wait() }

    func open() { self.semaphore.signal() }
  }
#endif
