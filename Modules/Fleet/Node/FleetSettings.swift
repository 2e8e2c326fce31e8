internal import OperationCore
internal import OperationFoundation

/// How a client takes part in a fleet.
public struct FleetSettings: Sendable {
  /// The name of the node in notices, events and explanations: by default the names of the host and of the process.
  ///
  /// Several nodes may have one name.
  public var nodeName: String

  /// How long the backend may delay a call, in addition to the run of this node or of another one; 500 ms by default.
  public var lookupTimeout: Duration

  /// How long a lease lasts unless its holder renews it, which it does three times as often; 10 s by default.
  ///
  /// After the death of a node, others wait for so long before one of them runs.
  public var leaseDuration: Duration

  /// How often a node asks for invalidations of which no message has told it; 10 s by default.
  public var heartbeat: Duration

  /// How long a node may read fresh values of its stores after an answer of the backend, before it asks whether something was
  /// invalidated; 10 ms by default, and the same on all nodes.
  ///
  /// `settled()` of an invalidation, and a mutation with invalidations, take as much longer, so that no node reads what was
  /// invalidated after they have returned. With zero, each read of a fresh value waits for an answer, and authors wait no
  /// longer than for the backend. With nil, readers never ask, and learn of invalidations by messages.
  public var readLease: Duration?

  /// The largest number of bytes of a value that is shared; 1,000,000 by default.
  public var maximumValueSize: Int

  /// How many invalidations a node keeps while the backend is away; 1,000 by default.
  ///
  /// With one more, it keeps a single one in place of them, of everything.
  public var maximumPendingInvalidations: Int

  /// Creates settings. Durations that are not positive are reported, and count as a millisecond.
  public init(
    nodeName: String? = nil,
    lookupTimeout: Duration = .milliseconds(500),
    leaseDuration: Duration = .seconds(10),
    heartbeat: Duration = .seconds(10),
    readLease: Duration? = .milliseconds(10),
    maximumValueSize: Int = 1_000_000,
    maximumPendingInvalidations: Int = 1_000
  ) {
    self.nodeName = nodeName ?? Self.processName
    self.lookupTimeout = lookupTimeout.reportedUnlessPositive(in: "FleetSettings.lookupTimeout")
    self.leaseDuration = leaseDuration.reportedUnlessPositive(in: "FleetSettings.leaseDuration")
    self.heartbeat = heartbeat.reportedUnlessPositive(in: "FleetSettings.heartbeat")
    self.readLease = readLease.map { max($0.clampedForClock, .zero) }
    self.maximumValueSize = max(maximumValueSize, 0)
    self.maximumPendingInvalidations = max(maximumPendingInvalidations, 1)
  }

  private static var processName: String {
    let process = ProcessInfo.processInfo
    return "\(process.hostName)/\(process.processIdentifier)"
  }
}

extension Duration {
  func reportedUnlessPositive(in argument: String) -> Duration {
    if self > .zero { return self.clampedForClock }
    OperationWarning(
      code: .invalidArgument,
      message: "`\(argument)` was given \(self). It counts as a millisecond; pass a positive duration."
    ).report()
    return .milliseconds(1)
  }
}
