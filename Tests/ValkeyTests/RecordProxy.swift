#if SwiftOperationValkey && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationTesting
  import TestFixtures

  /// A proxy in front of a server with TLS, which cuts records into pieces of random sizes, and damages those that it is told to.
  ///
  /// It knows only the lengths of records, which TLS does not hide.
  final class RecordProxy: Sendable {
    /// What happens to a record of data that the server sends.
    enum Fault: CaseIterable, Sendable {
      /// One bit of the content differs.
      case damaged
      /// The connection ends in the middle of it.
      case truncated
      /// It arrives twice.
      case doubled
      /// It does not arrive, and the next ones do.
      case lost
    }

    fileprivate struct State: Sendable {
      var generator: SeededGenerator
      var faults: [(fault: Fault, connection: Int?)] = []
      var faultCount = 0
      var connections: [CInt] = []
    }

    /// The state, for the threads that pass records on.
    fileprivate final class Shared: Sendable {
      private let state: Locked<State>

      init(_ state: State) { self.state = Locked(state) }

      func withLock<R>(_ body: (inout State) -> R) -> R { self.state.withLock { body(&$0) } }
    }

    let port: Int
    private let listener: CInt
    private let state: Shared

    /// - Parameters:
    ///   - serverPort: The port of the server.
    ///   - seed: Decides where records are cut.
    /// - Throws: A failure if no port is free.
    init(to serverPort: Int, seed: UInt64) throws {
      self.state = Shared(State(generator: SeededGenerator(seed: seed)))
      let (listener, port) = try LocalSocket.listening()
      self.listener = listener
      self.port = port
      Thread.detachNewThread { [state = self.state] in
        var number = 0
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0 else { break }
          Self.connect(client, number, to: serverPort, state)
          number += 1
        }
        close(listener)
      }
    }

    deinit {
      shutdown(self.listener, CInt(SHUT_RDWR))
      for connection in self.state.withLock({ $0.connections }) { shutdown(connection, CInt(SHUT_RDWR)) }
    }

    /// The number of records that something has happened to.
    var faultCount: Int { self.state.withLock { $0.faultCount } }

    /// Lets something happen to the next record of data that the server sends.
    ///
    /// - Parameters:
    ///   - fault: What happens.
    ///   - connection: The number of the connection, from 0 in the order in which they began; nil for any.
    func harmNext(_ fault: Fault, onConnection connection: Int? = nil) {
      self.state.withLock { $0.faults.append((fault, connection)) }
    }

    private static func connect(_ client: CInt, _ number: Int, to port: Int, _ state: Shared) {
      let server = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      var name = LocalSocket.address(ofPort: port)
      let isConnected = withUnsafePointer(to: &name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      // A server that is gone: both connections end.
      guard isConnected else {
        close(client)
        close(server)
        return
      }
      var on: CInt = 1
      for connection in [client, server] {
        setsockopt(connection, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
      }
      state.withLock { $0.connections += [client, server] }
      // Both threads have to end before the numbers of the sockets are given away.
      let ended = Counter()
      for (source, target, isOfServer) in [(client, server, false), (server, client, true)] {
        Thread.detachNewThread {
          self.pump(source, target, isOfServer ? number : nil, state)
          for connection in [client, server] { shutdown(connection, CInt(SHUT_RDWR)) }
          guard ended.increment() == 2 else { return }
          state.withLock { state in state.connections.removeAll { [client, server].contains($0) } }
          for connection in [client, server] { close(connection) }
        }
      }
    }

    /// Passes records on until one side has ended. With a number they are those of the server on that connection, and may get a fault.
    private static func pump(_ source: CInt, _ target: CInt, _ number: Int?, _ state: Shared) {
      while let head = self.read(5, from: source),
        var content = self.read(Int(head[3]) << 8 + Int(head[4]), from: source)
      {
        // 23 is a record of data.
        let fault = head[0] == 23 ? number.flatMap { number in state.withLock { $0.takeFault(on: number) } } : nil
        switch fault {
        case .damaged: content[content.count / 2] ^= 1
        case .lost: continue
        case .truncated:
          _ = self.write(head + content.prefix(content.count / 2), to: target)
          return
        case .doubled: guard self.writeInPieces(head + content, to: target, state) else { return }
        case nil: break
        }
        guard self.writeInPieces(head + content, to: target, state) else { return }
      }
    }

    private static func read(_ count: Int, from source: CInt) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      var filled = 0
      while filled < count {
        let result = bytes.withUnsafeMutableBytes { bytes in
          let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
          return recv(source, rest.baseAddress, rest.count, 0)
        }
        if result <= 0 { return nil }
        filled += result
      }
      return bytes
    }

    private static func writeInPieces(_ bytes: [UInt8], to target: CInt, _ state: Shared) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        let size = state.withLock { $0.pieceSize(of: rest.count) }
        guard self.write(Array(rest.prefix(size)), to: target) else { return false }
        rest = rest.dropFirst(size)
      }
      return true
    }

    private static func write(_ bytes: [UInt8], to target: CInt) -> Bool {
      var sent = 0
      while sent < bytes.count {
        let result = bytes.withUnsafeBytes { bytes in
          let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
          return send(target, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
        }
        if result <= 0 { return false }
        sent += result
      }
      return true
    }
  }

  extension RecordProxy.State {
    fileprivate mutating func takeFault(on connection: Int) -> RecordProxy.Fault? {
      guard let index = self.faults.firstIndex(where: { $0.connection ?? connection == connection }) else { return nil }
      self.faultCount += 1
      return self.faults.remove(at: index).fault
    }

    /// Often a few bytes, so that heads are cut as well; of long records seldom, as each piece is a call of the system.
    fileprivate mutating func pieceSize(of count: Int) -> Int {
      let isSmall = Int.random(in: 0..<4, using: &self.generator) == 0
      return Int.random(in: 1...(isSmall ? min(count, 9) : count), using: &self.generator)
    }
  }
#endif
