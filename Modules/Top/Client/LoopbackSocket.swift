internal import OperationPlatform

/// What went wrong between this program and the one that it looks at.
package struct LoopbackError: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    // Some are texts of the program.
    self.description = description.withoutControls
  }

  /// With the words of the system for the last error of a call.
  static func system(_ what: String) -> LoopbackError { LoopbackError("\(what): \(String(cString: strerror(errno)))") }
}

/// A connection to a port of this machine.
package final class LoopbackSocket {
  /// To wait for what arrives.
  package let descriptor: CInt

  /// Connects, and gives up after some seconds of waiting in any of the calls.
  package init(port: UInt16, waitingAtMost seconds: Int = 5) throws(LoopbackError) {
    self.descriptor = socket(AF_INET, SocketType.stream, 0)
    guard self.descriptor >= 0 else { throw .system("no socket") }
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(self.descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let result = sockaddr_in(loopbackPort: port).withAnyAddress { connect(self.descriptor, $0, $1) }
    guard result == 0 else { throw .system("no program at port \(port)") }
  }

  deinit {
    close(self.descriptor)
  }

  /// Sends a text.
  package func send(_ text: String) throws(LoopbackError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      #if canImport(Darwin)
        let flags: CInt = 0
      #else
        // A program that has gone is an error, and no signal that ends this one.
        let flags = CInt(MSG_NOSIGNAL)
      #endif
      let count = rest.withUnsafeBytes { OperationPlatform.send(self.descriptor, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { throw .system("nothing can be sent") }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits for bytes.
  ///
  /// - Returns: The bytes; empty when the other side has ended the connection.
  package func receive() throws(LoopbackError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = buffer.withUnsafeMutableBytes { recv(self.descriptor, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw .system("nothing can be received") }
    return Array(buffer.prefix(count))
  }
}
