public import OperationCore

/// What a node has asked its backend, and how long the answers took.
struct FleetMeasurements: Sendable {
  var calls = 0
  var failures = 0
  /// The round trip of the last call with an answer; nil before the first.
  var lastRoundTrip: Duration?
  /// The mean of the last calls, of which an older one counts less.
  var meanRoundTrip: Duration?
  var aways = 0
  /// When the last answer came.
  var lastAnswer: Duration?

  /// - Parameters:
  ///   - result: What has become of a call.
  ///   - duration: How long that has taken.
  ///   - now: The time.
  mutating func note(
    _ result: Result<Void, any Error>,
    after duration: Duration,
    at now: Duration
  ) {
    switch result {
    case .success:
      self.calls += 1
      self.lastAnswer = now
      self.lastRoundTrip = duration
      self.meanRoundTrip = self.meanRoundTrip.map { $0 + (duration - $0) / 16 } ?? duration
    // The caller has left.
    case .failure(is CancellationError): break
    case .failure:
      self.calls += 1
      self.failures += 1
    }
  }
}

/// The state of a node of a fleet at one moment, for logs, status pages and gauges.
public struct FleetNodeSnapshot: OperationResilienceSnapshot, Hashable {
  /// `fleet`: the name of a node has the number of its process, of which metrics would keep a series each.
  public let name = "fleet"

  /// The name of the node.
  public let node: String

  /// Whether the backend has answered last, and the node has not left.
  public let isConnected: Bool

  /// For how long the backend has not served the node; nil while it does.
  public let awayFor: Duration?

  /// Why not, with the remedy; nil while it does.
  public let cause: String?

  /// Why no messages arrive; nil while they do.
  public let messagesFailure: String?

  /// How many calls were made to the backend, without those that were cancelled.
  public let calls: Int

  /// How many of them failed, or had no answer in time.
  public let failures: Int

  /// How often the backend was away.
  public let aways: Int

  /// How long the last answer took; nil before the first.
  public let lastRoundTrip: Duration?

  /// The mean of how long answers took, in which older ones count less; nil before the first.
  public let meanRoundTrip: Duration?

  /// The number of leases of runs under way.
  public let heldLeases: Int

  /// The number of keys whose runs wait for runs of other nodes, or for the backend.
  public let waitingKeys: Int

  /// Whether there are invalidations that the backend does not know yet.
  public let hasPendingInvalidations: Bool

  /// `fleet.connected`, `fleet.calls`, `fleet.failures`, `fleet.aways`, `fleet.round_trip` in seconds, `fleet.leases` and
  /// `fleet.waiting`.
  public var gauges: [String: Double] {
    [
      "fleet.connected": self.isConnected ? 1 : 0, "fleet.calls": Double(self.calls),
      "fleet.failures": Double(self.failures), "fleet.aways": Double(self.aways),
      "fleet.round_trip": self.meanRoundTrip.map { $0 / .seconds(1) } ?? 0, "fleet.leases": Double(self.heldLeases),
      "fleet.waiting": Double(self.waitingKeys),
    ]
  }

  /// The snapshot on one line.
  public var description: String {
    let state = self.isConnected ? "connected" : self.awayFor.map { "away for \($0.roundedText)" } ?? "left"
    let trip = self.meanRoundTrip.map { ", \($0.roundedText) a call" } ?? ""
    let cause = self.cause.map { ": \($0)" } ?? ""
    return
      "\(self.node): \(state), \(self.calls) calls\(trip), \(self.failures) failures, \(self.heldLeases) leases\(cause)"
  }
}

extension FleetNode {
  /// The state of the node now.
  public func snapshot() -> FleetNodeSnapshot {
    let failure = self.backend.messagesFailure
    let now = self.deadlines.elapsed
    return self.state.withLock { state in
      FleetNodeSnapshot(
        node: self.settings.nodeName,
        isConnected: !state.isClosed && state.awaySince == nil,
        awayFor: state.isClosed ? nil : state.awaySince.map { now - $0 },
        cause: state.isClosed ? nil : state.awayCause?.message,
        messagesFailure: failure?.message,
        calls: state.measurements.calls,
        failures: state.measurements.failures,
        aways: state.measurements.aways,
        lastRoundTrip: state.measurements.lastRoundTrip,
        meanRoundTrip: state.measurements.meanRoundTrip,
        heldLeases: state.leases.held.count,
        waitingKeys: state.waits.count,
        hasPendingInvalidations: !state.pending.isEmpty
      )
    }
  }
}
