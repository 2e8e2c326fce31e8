#if SwiftOperationValkey
  internal import Dispatch
  internal import OperationCore
  internal import OperationEventLoop

  /// Opens connections to a server, or to the first of several hosts that is a primary server.
  final class ConnectionOpening: Sendable {
    let name: ServerName
    private let address: ServerAddress
    private let deadlines: any DeadlineSource
    private let password: PasswordSource?
    /// Nil without TLS.
    private let tls: TLSContext?
    private let addresses: @Sendable (String) -> [String]
    /// The threads that look up names of hosts.
    private let queue = DispatchQueue(label: "swift-operation.valkey-addresses", attributes: .concurrent)

    /// - Parameters:
    ///   - address: Where the server is.
    ///   - password: Called for the password of each connection, in place of that of the address.
    ///   - tls: The certificates, for an address with TLS.
    ///   - deadlines: The source of time limits.
    ///   - addresses: Looks up the addresses of a host. It may block its thread.
    /// - Throws: A ``ValkeyError`` if a certificate cannot be used.
    init(
      _ address: ServerAddress,
      password: (@Sendable () async throws -> String)? = nil,
      tls: ValkeyTLS = ValkeyTLS(),
      deadlines: any DeadlineSource,
      addresses: @escaping @Sendable (String) -> [String] = { HostAddresses.find($0) }
    ) throws(ValkeyError) {
      self.tls = address.usesTLS ? try TLSContext(tls, address.name) : nil
      self.address = address
      self.name = address.name
      self.deadlines = deadlines
      self.password = password.map { PasswordSource($0, deadlines: deadlines) }
      self.addresses = addresses
    }

    /// Connects to each host and each of its addresses, until one is a primary server that answers.
    ///
    /// - Parameter limit: How long it may take. Each host has a part of it, so that a silent one leaves time for the others.
    /// - Returns: A connection that can make requests.
    /// - Throws: A ``ValkeyError``: of several hosts, what a server has said comes before what none has.
    nonisolated(nonsending) func open(within limit: Duration) async throws(ValkeyError) -> ServerConnection {
      let end = self.deadlines.elapsed + limit.clampedForClock
      // Once: all hosts have the same users.
      let password = try await self.currentPassword(within: limit.clampedForClock)
      var (said, reasons): (ValkeyError?, [String]) = (nil, [])
      let hosts = self.address.hosts
      for (index, host) in hosts.enumerated() {
        let hostEnd = self.share(until: end, of: hosts.count - index)
        let addresses = await self.addresses(of: host, until: hostEnd)
        if addresses?.isEmpty ?? true {
          reasons.append("\(host.name) " + (addresses == nil ? "is looked up for too long" : "has no address"))
        }
        for (index, address) in (addresses ?? []).enumerated() {
          let addressEnd = self.share(until: hostEnd, of: (addresses?.count ?? 0) - index)
          do throws(AttemptFailure) {
            return try await self.open(host, address, password, until: addressEnd)
          } catch {
            switch error {
            case .unreachable(let reason): reasons.append("\(host.name): \(reason)")
            case .refused(let error):
              // Another host has the same users.
              guard error.isOfThisHost else { throw error }
              said = error
            }
          }
        }
      }
      throw said ?? .unavailable(self.name, reasons.joined(separator: "; "))
    }

    private nonisolated(nonsending) func currentPassword(within limit: Duration) async throws(ValkeyError) -> String? {
      guard let source = self.password else { return self.address.password }
      do throws(PasswordSource.Failure) {
        return try await source.password(within: limit)
      } catch {
        let message = "\(self.name) cannot be reached: \(error.reason). It is called again by itself."
        throw ValkeyError(code: .unavailable, message: message)
      }
    }

    /// The end of one of several attempts that share a time.
    private func share(until end: Duration, of count: Int) -> Duration {
      let now = self.deadlines.elapsed
      return now + max(end - now, .zero) / count
    }

    /// The addresses of a host, with an empty one for a local socket; nil if the look-up takes too long.
    private nonisolated(nonsending) func addresses(
      of host: ServerAddress.Host,
      until end: Duration
    ) async -> [String]? {
      guard case .network(let name, _) = host else { return [""] }
      let outcome = AwaitedOutcome<[String]?>()
      let timer = self.deadlines.schedule(after: end - self.deadlines.elapsed) { outcome.decide(nil) }
      self.queue.async { [addresses = self.addresses] in outcome.decide(addresses(name)) }
      let found = await outcome.value()
      timer.cancel()
      return found
    }

    /// Why a host does not serve.
    private enum AttemptFailure: Error {
      case unreachable(String)
      /// The server says why, or is none.
      case refused(ValkeyError)
    }

    private nonisolated(nonsending) func open(
      _ host: ServerAddress.Host,
      _ address: String,
      _ password: String?,
      until end: Duration
    ) async throws(AttemptFailure) -> ServerConnection {
      let limit = end - self.deadlines.elapsed
      let socket: ServerSocket
      do throws(SocketFailure) {
        switch host {
        case .network(_, let port): socket = try .connect(to: address, port: port)
        case .local(let path): socket = try .connect(toPath: path)
        }
        guard await self.isConnected(socket, until: end) else { throw SocketFailure(silentFor: limit) }
        try socket.finishConnecting()
      } catch {
        throw .unreachable(error.reason)
      }
      let name = ServerName(host.name, database: self.address.database)
      let connection: ServerConnection
      do throws(TLSFailure) {
        connection = ServerConnection(socket, try self.makeSession(host), name: name, deadlines: self.deadlines)
      } catch {
        throw .refused(.untrusted(name, error))
      }
      do throws(ValkeyError) {
        try await self.greet(connection, password, until: end)
        return connection
      } catch {
        connection.close()
        if error.code == .timedOut {
          let hint = self.tls == nil ? "" : ", perhaps as it has no TLS at this port"
          throw .unreachable(SocketFailure(silentFor: limit).reason + hint)
        }
        throw .refused(error)
      }
    }

    private func makeSession(_ host: ServerAddress.Host) throws(TLSFailure) -> TLSSession? {
      guard case .network(let name, _) = host else { return nil }
      return try self.tls?.makeSession(host: name)
    }

    private nonisolated(nonsending) func isConnected(_ socket: ServerSocket, until end: Duration) async -> Bool {
      let outcome = AwaitedOutcome<Bool>()
      let timer = self.deadlines.schedule(after: end - self.deadlines.elapsed) { outcome.decide(false) }
      let watch = SocketWatch(socket.descriptor, isWriting: true) { outcome.decide(true) }
      let isConnected = await outcome.value()
      watch.cancel()
      timer.cancel()
      return isConnected
    }

    /// Says who connects, and asks what the server is.
    private nonisolated(nonsending) func greet(
      _ connection: ServerConnection,
      _ password: String?,
      until end: Duration
    ) async throws(ValkeyError) {
      var hello = Request("HELLO", "3")
      if let password {
        for word in ["AUTH", self.address.user, password] { hello.append(word) }
      }
      for word in ["SETNAME", "swift-operation"] { hello.append(word) }
      let answer = try await connection.perform(hello, within: end - self.deadlines.elapsed)
      if case .error(let text) = answer { throw ValkeyError(reply: text, connection.name) }
      if let error = ValkeyError(hello: answer, connection.name) { throw error }
      guard self.address.database != 0 else { return }
      let selection = Request("SELECT", "\(self.address.database)")
      let selected = try await connection.perform(selection, within: end - self.deadlines.elapsed)
      if case .error(let text) = selected { throw ValkeyError(reply: text, connection.name) }
    }
  }

  extension SocketFailure {
    fileprivate init(silentFor duration: Duration) {
      self.init(reason: "it has not answered within \((duration.seconds * 10).rounded() / 10) s")
    }
  }
#endif
