#if SwiftOperationPostgreSQL
  internal import Dispatch
  internal import OperationCore
  internal import OperationEventLoop
  internal import OperationLibPQ

  /// Opens connections to one server, or to the first of several that answers.
  final class ConnectionOpening: Sendable {
    let name: ConnectionName
    private let connection: String
    private let hosts: ConnectionHosts
    private let deadlines: any DeadlineSource
    private let password: PasswordSource?
    private let addresses: @Sendable (String) -> [String]
    /// The threads that look up names of hosts, and that step libpq. Each handle is used by one of them at a time.
    private let queue = DispatchQueue(label: "swift-operation.postgresql-connecting", attributes: .concurrent)

    /// - Parameters:
    ///   - connection: A connection string of libpq.
    ///   - password: Called for the password of each connection, in place of that of the string.
    ///   - deadlines: The source of time limits.
    ///   - addresses: Looks up the addresses of a host. It may block its thread.
    /// - Throws: A ``PostgreSQLError`` if it cannot be read.
    init(
      _ connection: String,
      password: (@Sendable () async throws -> String)? = nil,
      deadlines: any DeadlineSource,
      addresses: @escaping @Sendable (String) -> [String] = { HostAddresses.find($0) }
    ) throws(PostgreSQLError) {
      let options = try ConnectionOptions(connection)
      self.connection = connection
      self.name = ConnectionName(options)
      self.hosts = ConnectionHosts(options)
      self.deadlines = deadlines
      self.password = password.map { PasswordSource($0, deadlines: deadlines) }
      self.addresses = addresses
    }

    /// Connects to the server: to each host and each of its addresses, until one answers.
    ///
    /// - Parameter limit: How long it may take. Each host has a part of it, so that a silent one leaves time for the others.
    /// - Returns: A connection that can make statements.
    /// - Throws: A ``PostgreSQLError``.
    nonisolated(nonsending) func open(within limit: Duration) async throws(PostgreSQLError) -> DatabaseConnection {
      let end = self.deadlines.elapsed + limit.clampedForClock
      // All hosts have the same users.
      let password: String?
      do throws(PasswordSource.Failure) {
        password = try await self.password?.password(within: limit.clampedForClock)
      } catch {
        let message = "\(self.name) cannot be reached: \(error.reason). It is called again by itself."
        throw PostgreSQLError(code: .unavailable, message: message)
      }
      var failures = AttemptFailures()
      let hosts = self.hosts.isShuffled ? self.hosts.all.shuffled() : self.hosts.all
      let attempts = self.hosts.passes.flatMap { pass in hosts.map { (pass, $0) } }
      for (index, (pass, host)) in attempts.enumerated() {
        let hostEnd = self.share(until: end, of: attempts.count - index)
        let addresses = await self.addresses(of: host, until: hostEnd)
        if let failure = AttemptFailure(lookUp: addresses, of: host) { failures.add(failure, of: host.text("")) }
        for (index, address) in (addresses ?? []).enumerated() {
          let share = self.share(until: hostEnd, of: (addresses?.count ?? 0) - index)
          let addressEnd = self.hosts.limit.map { min(share, self.deadlines.elapsed + $0) } ?? share
          do {
            let options = host.options(address) + [("target_session_attrs", pass), ("password", password ?? "")]
            return try await self.open(replacing: options.filter { !$0.1.isEmpty }, until: addressEnd)
          } catch {
            // Another host has the same users and databases.
            guard error.isOfThisHost(self.name) else { throw error.error(self.name) }
            failures.add(error, of: host.text(address))
          }
        }
      }
      throw failures.error(self.name)
    }

    /// The end of one of several attempts that share a time.
    private func share(until end: Duration, of count: Int) -> Duration {
      let now = self.deadlines.elapsed
      return now + max(end - now, .zero) / count
    }

    /// The addresses of a host, with a single empty one where there is nothing to look up; nil if that takes too long.
    private nonisolated(nonsending) func addresses(
      of host: ConnectionHosts.Host,
      until end: Duration
    ) async -> [String]? {
      guard host.hasAddresses else { return [""] }
      let outcome = AwaitedOutcome<[String]?>()
      let timer = self.deadlines.schedule(after: end - self.deadlines.elapsed) { outcome.decide(nil) }
      self.queue.async { [addresses = self.addresses] in outcome.decide(addresses(host.name)) }
      let found = await outcome.value()
      timer.cancel()
      return self.hosts.isShuffled ? found?.shuffled() : found
    }

    private nonisolated(nonsending) func open(
      replacing options: [(String, String)],
      until end: Duration
    ) async throws(AttemptFailure) -> DatabaseConnection {
      let limit = end - self.deadlines.elapsed
      let started = await self.perform { [connection = self.connection] in
        ConnectionHandle(connecting: connection, replacing: options)
      }
      guard let handle = started else { throw AttemptFailure(reason: "there is no memory") }
      do {
        try await self.finish(connecting: handle, until: end, limit)
      } catch {
        handle.finish()
        throw error
      }
      return DatabaseConnection(handle, name: self.name, deadlines: self.deadlines)
    }

    private nonisolated(nonsending) func finish(
      connecting handle: ConnectionHandle,
      until end: Duration,
      _ limit: Duration
    ) async throws(AttemptFailure) {
      if handle.isBroken { throw AttemptFailure(of: handle) }
      var isWriting = true
      while true {
        // The socket may be another one after each step.
        guard await self.isReady(handle.socket, isWriting: isWriting, until: end) else {
          throw AttemptFailure(silentFor: limit)
        }
        switch await self.perform({ handle.poll() }) {
        case PGRES_POLLING_OK:
          guard handle.didConnect() else { throw AttemptFailure(of: handle) }
          return
        case PGRES_POLLING_READING: isWriting = false
        case PGRES_POLLING_WRITING: isWriting = true
        default: throw AttemptFailure(of: handle)
        }
      }
    }

    private nonisolated(nonsending) func isReady(_ socket: CInt, isWriting: Bool, until end: Duration) async -> Bool {
      // While libpq has no socket, it has a next step.
      if socket < 0 { return true }
      let outcome = AwaitedOutcome<Bool>()
      let timer = self.deadlines.schedule(after: end - self.deadlines.elapsed) { outcome.decide(false) }
      let watch = SocketWatch(socket, isWriting: isWriting) { outcome.decide(true) }
      let isReady = await outcome.value()
      watch.cancel()
      timer.cancel()
      return isReady
    }

    private nonisolated(nonsending) func perform<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
      await withUnsafeContinuation { continuation in
        self.queue.async { continuation.resume(returning: body()) }
      }
    }
  }
#endif
