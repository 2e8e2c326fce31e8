#if SwiftOperationPostgreSQL
  internal import OperationCore

  /// Why a connection to one address was not established.
  struct AttemptFailure: Error {
    let reason: String
    /// The number of the error; nil if the server has said nothing.
    let sqlState: String?
    /// Whether the server, or libpq for it, has not said anything in time.
    let isSilence: Bool

    init(reason: String, sqlState: String? = nil, isSilence: Bool = false) {
      self.reason = reason
      self.sqlState = sqlState
      self.isSilence = isSilence
    }

    /// The failure of a look-up without an address; nil if there is one.
    init?(lookUp addresses: [String]?, of host: ConnectionHosts.Host) {
      guard addresses?.isEmpty ?? true else { return nil }
      let name = host.name.debugDescription
      self.init(
        reason: addresses == nil
          ? "the look-up of the host \(name) has not ended in time" : "the host \(name) has no address"
      )
    }

    init(silentFor duration: Duration) {
      let seconds = (duration.seconds * 10).rounded() / 10
      self.init(reason: "it has not answered within \(seconds) s", isSilence: true)
    }

    /// Reads the error of a handle: libpq has its SQLSTATE only in the verbose message.
    init(of handle: ConnectionHandle) {
      let message = handle.message
      // "…: FATAL:  28P01: password authentication failed for user "app"; LOCATION:  …"
      let parts = message.split(separator: ": ", omittingEmptySubsequences: true).map { $0.drop { $0 == " " } }
      for (index, part) in parts.enumerated().dropFirst() where Self.isSQLState(part) {
        let text = parts[(index + 1)...].joined(separator: ": ")
        let reason = text.split(separator: "; LOCATION").first.map(String.init) ?? text
        self.init(reason: reason, sqlState: String(part))
        return
      }
      self.init(reason: message)
    }

    private static func isSQLState(_ text: Substring) -> Bool {
      text.utf8.count == 5 && text.contains { $0.isNumber }
        && text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }

    func error(_ name: ConnectionName) -> PostgreSQLError {
      if let sqlState { return PostgreSQLError(sqlState: sqlState, self.reason, name) }
      return .unavailable("\(name)", self.reason)
    }

    /// Whether another host may serve: this one is silent, away, full, or not of the kind that is wanted.
    func isOfThisHost(_ name: ConnectionName) -> Bool { self.error(name).isTransient }
  }

  /// The failures of the addresses that were tried, in their order.
  struct AttemptFailures {
    private var all: [(failure: AttemptFailure, address: String)] = []

    mutating func add(_ failure: AttemptFailure, of address: String) {
      self.all.append((failure, address))
    }

    /// The error for all of them: what a server has said comes before what none has.
    func error(_ name: ConnectionName) -> PostgreSQLError {
      if let said = self.all.last(where: { $0.failure.sqlState != nil }) { return said.failure.error(name) }
      // libpq names the address by itself.
      let reasons = self.all.map {
        $0.failure.isSilence ? "\($0.address) failed: \($0.failure.reason)" : $0.failure.reason
      }
      return .unavailable("\(name)", reasons.joined(separator: "; "))
    }
  }
#endif
