internal import OperationCore
internal import OperationPersistence

extension FleetNode {
  /// The key of a value; nil, with a report for the first of its name, if the path has none.
  func key(of path: OperationPath, _ settings: FleetSharing) -> FleetKey? {
    if let key = FleetNames.key(path, name: settings.name, version: settings.version) { return key }
    guard self.isFirstReport("key " + settings.name) else { return nil }
    if PathKey(path) == nil {
      PathKey.reportMissing(in: path)
    } else {
      let reason = "its key has more than \(FleetLimits.keyLength) bytes"
      self.report(settings.key(at: path), reason)
    }
    return nil
  }

  func reportUnshared(_ key: LevelKey, _ reason: String) {
    if self.isFirstReport("value", key) { self.report(key, reason) }
  }

  func reportDerived(_ key: LevelKey) {
    guard self.isFirstReport("value", key) else { return }
    OperationWarning(
      code: .unsharedValue,
      severity: .failure,
      message: """
        The fleet does not share \(Self.text(of: key)), because it is made of those of other queries, and no other node could \
        know when these change. Each node runs the operation by itself. Share the queries that it reads.
        """
    ).report()
  }

  private func report(_ key: LevelKey, _ reason: String) {
    OperationWarning(
      code: .unsharedValue,
      severity: .failure,
      message: """
        The fleet cannot share \(Self.text(of: key)), because \(reason). Each node runs the operation by itself. Share \
        smaller values, or raise `maximumValueSize` in the settings of the nodes.
        """
    ).report()
  }

  func reportUnreadable(_ key: LevelKey) {
    guard self.isFirstReport("unreadable", key) else { return }
    OperationWarning(
      code: .unreadableFleetValue,
      severity: .failure,
      message: """
        This program cannot decode \(Self.text(of: key)) of its fleet, so it runs the operation itself. Give the value \
        another `version` in `.sharedInFleet(as: "\(key.name)", version: \(key.version))` when its type changes.
        """
    ).report()
  }

  /// Reports why the node goes on alone, once for each kind. A backend that is slow, or that was closed here, says it itself.
  func reportAway(_ cause: FleetError) {
    guard cause.code != .timedOut, cause.code != .closed, self.isFirstReport("away " + cause.code.description) else {
      return
    }
    OperationWarning(
      code: .unusableFleetBackend,
      severity: .failure,
      message: """
        The node \(self.settings.nodeName) goes on without the backend of its fleet (\(cause.code)). \(cause.message)
        """
    ).report()
  }

  /// Reports that the backend refuses calls for some keys, and serves others.
  func reportRefusal(_ cause: FleetError) {
    guard self.isFirstReport("refusal") else { return }
    OperationWarning(
      code: .unusableFleetBackend,
      severity: .failure,
      message: """
        The backend of the fleet of the node \(self.settings.nodeName) refuses some keys or values, whose runs are the node's \
        own (\(cause.code)). \(cause.message)
        """
    ).report()
  }

  func reportNoMessages(_ failure: FleetError) {
    guard self.isFirstReport("messages " + failure.code.description) else { return }
    OperationWarning(
      code: .unusableFleetBackend,
      severity: .failure,
      message: """
        The node \(self.settings.nodeName) hears no messages of its fleet (\(failure.code)), and learns of invalidations by \
        its heartbeat, every \(self.settings.heartbeat). \(failure.message)
        """
    ).report()
  }

  /// A value in a text: the key of the fleet contains the path with its secrets.
  private static func text(of key: LevelKey) -> String {
    "the value named \"\(key.name)\" at \(ShownText.of(key.path))"
  }

  private static let maximumReports = 1_000

  private func isFirstReport(_ kind: String, _ key: LevelKey) -> Bool {
    self.isFirstReport("\(kind) \(FleetNames.key(key.path, name: key.name, version: key.version)?.text ?? key.name)")
  }

  /// Whether something is reported for the first time. After many reports nothing is.
  private func isFirstReport(_ text: String) -> Bool {
    self.state.withLock { state in
      state.reports.count < Self.maximumReports && state.reports.insert(text).inserted
    }
  }
}
