#if SwiftOperationValkey
  public import OperationCore

  /// The connections of a fleet at one moment, for logs, status pages and gauges.
  public struct ValkeySnapshot: OperationResilienceSnapshot, Hashable {
    /// What uses the connections, and its prefix: `ValkeyFleet swift_operation`.
    public let name: String

    /// Whether the connection for calls is open.
    public internal(set) var isConnected = false

    /// The number of calls whose answers have not arrived, or that wait for the connection.
    public internal(set) var waiting = 0

    /// How many connections for calls were opened since the beginning.
    public internal(set) var openings = 0

    /// How many attempts to open one have failed.
    public internal(set) var failedOpenings = 0

    /// Why the last connection for calls could not be opened; nil if it could.
    public internal(set) var failure: String?

    /// Whether the connection that listens is open.
    public internal(set) var isListening = false

    /// Why it is not open; nil if it is, and before the first attempt.
    public internal(set) var listenerFailure: String?

    init(name: String) {
      self.name = name
    }

    /// `connection.open`, `connection.waiting`, `connection.openings`, `connection.failed_openings` and
    /// `connection.listening`.
    public var gauges: [String: Double] {
      [
        "connection.open": self.isConnected ? 1 : 0, "connection.waiting": Double(self.waiting),
        "connection.openings": Double(self.openings), "connection.failed_openings": Double(self.failedOpenings),
        "connection.listening": self.isListening ? 1 : 0,
      ]
    }

    /// The snapshot on one line.
    public var description: String {
      let failure = (self.failure ?? self.listenerFailure).map { ": \($0)" } ?? ""
      let calls = self.isConnected ? "connected" : "not connected"
      let messages = self.isListening ? "listens" : "hears nothing"
      return "\(self.name): \(calls), \(self.waiting) calls waiting, \(messages)\(failure)"
    }
  }
#endif
