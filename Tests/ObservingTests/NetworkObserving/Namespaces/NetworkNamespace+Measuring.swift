#if os(Linux)
  import Dispatch
  import Foundation
  import Glibc
  import OperationEventLoop

  @testable import OperationNetworkObserving

  extension NetworkNamespace {
    /// A feed with a small buffer, which soon loses messages.
    func smallFeed() throws(SystemFailure) -> NetlinkSocket {
      let socket = try self.open { () throws(SystemFailure) in try NetlinkSocket(groups: Netlink.changeGroups) }
      var size: CInt = 2_048
      setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
      return socket
    }

    /// The number of IPv4 packets and IPv6 datagrams that were sent. The kernel sends IPv6 packets of its own.
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
    /// Reads all messages, and returns the error that follows.
    func firstFailure() -> CInt {
      var byte: UInt8 = 0
      while recv(self.descriptor, &byte, 1, CInt(MSG_DONTWAIT)) >= 0 {}
      return errno
    }
  }

  /// Blocks a thread until it is opened.
  final class BlockingGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { self.semaphore.wait() }

    func open() { self.semaphore.signal() }
  }
#endif
