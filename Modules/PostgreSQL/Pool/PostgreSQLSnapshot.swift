#if SwiftOperationPostgreSQL
  public import OperationCore

  /// What a pool has counted since it was made.
  struct PoolMeasurements: Sendable {
    var openings = 0
    var failedOpenings = 0
    private(set) var waits = 0
    private(set) var waitTime = Duration.zero
    private(set) var longestWait = Duration.zero

    mutating func noteWait(_ duration: Duration) {
      self.waits += 1
      self.waitTime += duration
      self.longestWait = max(self.longestWait, duration)
    }
  }

  /// The connections of a storage or a fleet at one moment, for logs, status pages and gauges.
  public struct PostgreSQLSnapshot: OperationResilienceSnapshot, Hashable {
    /// What uses the connections, and its schema: `PostgreSQLFleet swift_operation`.
    public let name: String

    /// The number of connections that are not in use.
    public let idle: Int

    /// The number of connections that make a statement.
    public let busy: Int

    /// The number of connections that are being opened.
    public let opening: Int

    /// The largest number of connections at a time.
    public let maximumConnections: Int

    /// The number of calls that wait for a connection.
    public let waiting: Int

    /// How many connections were opened since the beginning.
    public let openings: Int

    /// How many attempts to open one have failed.
    public let failedOpenings: Int

    /// How many calls have waited for a connection.
    public let waits: Int

    /// How long all of them have waited together.
    public let waitTime: Duration

    /// How long one of them has waited at most.
    public let longestWait: Duration

    /// Why the last connection could not be opened; nil if it could.
    public let failure: String?

    /// Whether the connection that listens is open; nil for a storage, which has none.
    public let isListening: Bool?

    /// Why it is not open; nil if it is, and before the first attempt.
    public let listenerFailure: String?

    /// `pool.idle`, `pool.busy`, `pool.opening`, `pool.waiting`, `pool.openings`, `pool.failed_openings`, `pool.waits`,
    /// `pool.wait_time` and `pool.longest_wait` in seconds, and `pool.listening` of a fleet.
    public var gauges: [String: Double] {
      var gauges: [String: Double] = [
        "pool.idle": Double(self.idle), "pool.busy": Double(self.busy), "pool.opening": Double(self.opening),
        "pool.waiting": Double(self.waiting), "pool.openings": Double(self.openings),
        "pool.failed_openings": Double(self.failedOpenings), "pool.waits": Double(self.waits),
        "pool.wait_time": self.waitTime / .seconds(1), "pool.longest_wait": self.longestWait / .seconds(1),
      ]
      gauges["pool.listening"] = self.isListening.map { $0 ? 1 : 0 }
      return gauges
    }

    /// The snapshot on one line.
    public var description: String {
      let failure = (self.failure ?? self.listenerFailure).map { ": \($0)" } ?? ""
      return
        "\(self.name): \(self.busy) of \(self.maximumConnections) connections in use, \(self.idle) idle, \(self.waiting) waiting\(failure)"
    }
  }

  extension ConnectionPool {
    func snapshot(_ name: String, isListening: Bool? = nil, listenerFailure: String? = nil) -> PostgreSQLSnapshot {
      self.state.withLock { state in
        let (machine, measurements) = (state.machine, state.measurements)
        return PostgreSQLSnapshot(
          name: name,
          idle: machine.counts.idle,
          busy: machine.counts.busy,
          opening: machine.counts.opening,
          maximumConnections: machine.maximumConnections,
          waiting: machine.callerCount,
          openings: measurements.openings,
          failedOpenings: measurements.failedOpenings,
          waits: measurements.waits,
          waitTime: measurements.waitTime,
          longestWait: measurements.longestWait,
          failure: machine.lastFailure?.message,
          isListening: isListening,
          listenerFailure: listenerFailure
        )
      }
    }
  }
#endif
