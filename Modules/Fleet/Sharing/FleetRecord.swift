internal import OperationCore
internal import OperationFoundation

/// What the modifier knows about one store.
final class FleetRecord: Sendable {
  private struct State: Sendable {
    var origin: OperationFleetOrigin?
    /// The revision of the last value that the store has got from the fleet or given to it.
    var revision: Int64 = 0
    /// The set value that was put last: its date in the store, and its revision in the fleet.
    var put: (date: Date, revision: Int64)?
    /// Whether its values are made of values of other operations. Such values are not shared.
    var isDerived = false
    /// The runs by where their values came from.
    var counts: [OperationFleetOrigin.Source: Int] = [:]
  }

  let settings: FleetSharing
  private let state = Locked(State())

  init(_ settings: FleetSharing, isDerived: Bool) {
    self.settings = settings
    self.state.withLock { $0.isDerived = isDerived }
  }

  var revision: Int64 { self.state.withLock { $0.revision } }

  /// Whether the operation is derived, or a run of it has read the values of others, so that its values are not shared.
  var isDerived: Bool { self.state.withLock { $0.isDerived } }

  func noteSources() {
    self.state.withLock { $0.isDerived = true }
  }

  func note(revision: Int64) {
    self.state.withLock { $0.revision = max($0.revision, revision) }
  }

  /// Notes that a value of the store is in the fleet.
  func note(revision: Int64, of value: LevelValue) {
    self.note(revision: revision)
    if value.stamp.kind == .set, let date = value.date { self.state.withLock { $0.put = (date, revision) } }
  }

  /// The revision of the value that was set at a date; nil if it is not in the fleet.
  func revision(ofPutAt date: Date) -> Int64? {
    self.state.withLock { state in state.put.flatMap { $0.date == date ? $0.revision : nil } }
  }

  /// Notes that the store shows the last value of the fleet, while its run goes on.
  func noteLast(_ origin: OperationFleetOrigin, revision: Int64) {
    self.note(revision: revision)
    self.state.withLock { $0.origin = origin }
  }

  func note(_ origin: OperationFleetOrigin) {
    self.state.withLock { state in
      state.origin = origin
      state.counts[origin.source, default: 0] += 1
    }
  }
}

extension FleetRecord: OperationExplaining {
  /// Tells which node ran the operation for the last value, and where the values came from so far.
  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let (origin, counts) = self.state.withLock { ($0.origin, $0.counts) }
    var facts = ["\(self.settings.name), version \(self.settings.version)"]
    if let node = store.context.operationClient?.fleet {
      switch node.connection {
      case .connected: facts.append("the node \(node.settings.nodeName) reaches the backend")
      case .away(let duration, let cause):
        facts.append("the backend has not served \(node.settings.nodeName) for \(duration.roundedText): \(cause)")
      case .left: facts.append("the node \(node.settings.nodeName) has left")
      }
      if let failure = node.backend.messagesFailure { facts.append("no messages arrive: \(failure.message)") }
    } else {
      facts.append("the client has joined no fleet")
    }
    if self.isDerived { facts.append("its values are made of others, so they are not shared") }
    if let origin { facts.append("the last value was \(origin)") }
    let sources = counts.sorted { $0.key.description < $1.key.description }.map { "\($0.key) \($0.value)" }
    if !sources.isEmpty { facts.append("values so far: \(sources.joined(separator: ", "))") }
    inspection.sections.append(StoreInspection.Section(title: "Fleet", facts: facts))
  }
}

extension OperationContext {
  /// What the modifier knows about the store of the run; nil without one.
  var fleetRecord: FleetRecord? {
    get { self[FleetRecordKey.self] }
    set { self[FleetRecordKey.self] = newValue }
  }

  private enum FleetRecordKey: Key {
    static let defaultValue: FleetRecord? = nil
  }
}
