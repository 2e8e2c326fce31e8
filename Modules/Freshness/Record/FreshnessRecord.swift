internal import OperationCore
internal import OperationFoundation

/// Identifies a value of a state: another value has another number or another date.
struct ValueKey: Hashable, Sendable {
  let count: Int
  /// When the oldest part of the value was set.
  let date: Date

  /// Nil for a state without a value.
  init?(_ state: some OperationState) {
    guard let date = state.oldestPartUpdatedAt else { return nil }
    self.count = state.valueUpdateCount
    self.date = date
  }

  /// The same for an existential.
  init?(any state: any OperationState) {
    self.init(state)
  }
}

/// What the modifiers of this module know about one store.
///
/// They make it in the setup of the operation, and it answers the calls of the store.
final class FreshnessRecord: Sendable {
  struct Configuration: Sendable {
    /// The last share of the fresh period, in which a read starts a run behind it; nil without early refreshes.
    var earlyShare: Double?
    /// How long a call waits before it gets the last value; nil if it waits to the end.
    var patience: Duration?
    /// The maximal age of a value that is served, in seconds; nil if stale values are not served.
    var maximumAge: Double?

    init() {}
  }

  /// What a server has said about a value.
  struct Entry: Sendable {
    let key: ValueKey
    let freshness: OperationHTTPFreshness
    /// How old the value was when it was set, in seconds.
    let initialAge: Double
    /// How long the value is fresh from the date of its key on, in seconds; nil if that is unknown.
    let seconds: Double?
  }

  private struct State: Sendable {
    var configuration = Configuration()
    /// Newest last. More than one, because a run that is rolled back brings an earlier value back.
    var entries: [Entry] = []
  }

  let makeNotice: @Sendable (OperationNotice.Name, [String: OperationNotice.Value]) -> OperationNotice
  private let state = Locked(State())

  init<Operation: StatefulOperationRequest>(of operation: Operation) {
    self.makeNotice = { OperationNotice($0, of: operation, attributes: $1) }
  }

  var configuration: Configuration { self.state.withLock { $0.configuration } }

  func configure(_ edit: @Sendable (inout Configuration) -> Void) {
    var configuration = self.configuration
    edit(&configuration)
    self.state.withLock { [configuration] in $0.configuration = configuration }
  }

  /// What a server has said about a value; nil if it has said nothing.
  func entry(of key: ValueKey) -> Entry? {
    self.state.withLock { state in state.entries.last { $0.key == key } }
  }

  private static let maximumEntries = 4

  /// Keeps what a server has said about a value, in place of what is known about that value.
  func keep(_ entry: Entry) {
    self.state.withLock { state in
      state.entries.removeAll { $0.key == entry.key }
      if state.entries.count == Self.maximumEntries { state.entries.removeFirst() }
      state.entries.append(entry)
    }
  }

  /// The newest entry: that of the parts of a value that a run has left in place.
  var lastEntry: Entry? { self.state.withLock { $0.entries.last } }
}

extension OperationContext {
  /// The record of the store that is being set up.
  mutating func freshnessRecord<Operation: StatefulOperationRequest>(of operation: Operation) -> FreshnessRecord {
    if let record = self.knownFreshnessRecord { return record }
    let record = FreshnessRecord(of: operation)
    self.callAnswerer = record
    self.addEntriesToOutcomes()
    return record
  }

  /// The record of the store with this context; nil if no modifier of this module has made one.
  var knownFreshnessRecord: FreshnessRecord? { self.callAnswerer as? FreshnessRecord }
}
