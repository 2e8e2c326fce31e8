#if os(Linux)
  import Dispatch
  import Foundation
  import Glibc
  import OperationEventLoop

  @testable import OperationNetworkObserving

  extension NetworkNamespace {
    /// A feed that loses messages soon.
    func smallFeed() throws(SystemFailure) -> NetlinkSocket {
      let socket = try self.open { () throws(SystemFailure) in try NetlinkSocket(groups: Netlink.changeGroups) }
      var size: CInt = 2_048
      setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
      return socket
    }

    /// How many packets of IPv4, and datagrams of IPv6, programs have sent; the kernel itself sends others of IPv6.
    var sentPackets: Int? {
      self.sync {
        let table = (try? String(contentsOfFile: "/proc/thread-self/net/snmp", encoding: .utf8)) ?? ""
        let list = (try? String(contentsOfFile: "/proc/thread-self/net/snmp6", encoding: .utf8)) ?? ""
        // A line of names, then one of numbers.
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("Ip:") }.map { $0.split(separator: " ") }
        let datagrams = list.split(separator: "\n").first { $0.hasPrefix("Udp6OutDatagrams") }?.split(
          whereSeparator: \.isWhitespace
        ).last
        guard rows.count == 2, let column = rows[0].firstIndex(of: "OutRequests"), let datagrams else { return nil }
        guard let packets = Int(rows[1][column]), let count = Int(datagrams) else { return nil }
        return packets + count
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
