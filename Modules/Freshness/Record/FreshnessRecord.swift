internal import OperationCore
internal import OperationFoundation
internal import Synchronization

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
/// They make it in the setup of the operation. It intercepts the calls of the store, and observes the values of its runs.
final class FreshnessRecord: Sendable {
  struct Configuration: Sendable {
    /// The share of the fresh period after which a read starts a run behind it; nil without early refreshes.
    var earlyStart: Double?
    /// How long a call waits before it gets the last value; nil if it waits to the end.
    var patience: Duration?
    /// The maximal age of a value that is served, in seconds; nil if stale values are not served.
    var maximumAge: Double?
    /// How long after a failure callers get the last value without a run, in seconds.
    var retryPause = 0.0
    /// How long after a failure no early refresh begins, in seconds.
    var earlyRetryPause = 0.0
    /// Which failures answer callers, and for how long; nil if none does.
    var cachedFailures: CachedFailures?

    init() {}

    /// Whether a failure has effects after its run.
    var remembersFailures: Bool { self.retryPause > 0 || self.earlyRetryPause > 0 || self.cachedFailures != nil }
  }

  /// What a server has said about a value.
  struct Entry: Sendable {
    let key: ValueKey
    let freshness: OperationHTTPFreshness
    /// How old the value was when it was set, in seconds.
    let initialAge: Double
    /// How long the value is fresh from the date of its key on, in seconds; negative if it came stale, and nil if that
    /// is unknown.
    let seconds: Double?
  }

  private struct State: Sendable {
    var configuration = Configuration()
    /// Newest last. More than one, because a run that is rolled back brings an earlier value back.
    var entries: [Entry] = []
    /// What runs have said that began before the record was made, newest last.
    var handed: [HandedFreshness] = []
    /// The failure after which neither a value came nor an invalidation.
    var failure: LastFailure?
    /// When a caller was last answered with a stale value; nil before the first time.
    var lastServed: Date?
    /// The number of invalidations that the record has heard of.
    var invalidations = 0
  }

  let makeNotice: @Sendable (OperationNotice.Name, [String: OperationNotice.Value]) -> OperationNotice
  private let state = Locked(State())
  private let mayHaveFailure = Atomic(false)

  init(_ makeNotice: @escaping @Sendable (OperationNotice.Name, [String: OperationNotice.Value]) -> OperationNotice) {
    self.makeNotice = makeNotice
  }

  /// When a caller was last answered with a stale value; nil before the first time.
  var lastServed: Date? { self.state.withLock { $0.lastServed } }

  func noteServed(at date: Date) { self.state.withLock { $0.lastServed = date } }

  var configuration: Configuration { self.state.withLock { $0.configuration } }

  func configure(_ edit: @Sendable (inout Configuration) -> Void) {
    var configuration = self.configuration
    edit(&configuration)
    self.state.withLock { [configuration] in $0.configuration = configuration }
    self.mayHaveFailure.store(configuration.remembersFailures, ordering: .relaxed)
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

  /// Forgets what servers have said about values that were taken back, by a rollback or a reset, from a state with `count`
  /// updates of its value.
  func forgetValues(after count: Int) {
    self.state.withLock { state in state.entries.removeAll { count == 0 || $0.key.count > count } }
  }

  private static let maximumHanded = 1_000

  /// Keeps what a run has said that began before the record was made, in place of what it has said before.
  ///
  /// - Parameters:
  ///   - handed: What it has said.
  ///   - isPart: Whether the run has several parts, whose values make up one value: the shortest freshness counts.
  func hand(_ handed: HandedFreshness, isPart: Bool) {
    self.state.withLock { state in
      if let index = state.handed.firstIndex(where: { $0.run == handed.run }) {
        if isPart, state.handed[index].isShorter(than: handed) { return }
        state.handed.remove(at: index)
      }
      // Runs that have failed leave theirs behind.
      if state.handed.count == Self.maximumHanded { state.handed.removeFirst() }
      state.handed.append(handed)
    }
  }

  /// What a run has said that began before the record was made; nil for nothing.
  func handed(by run: OperationTaskIdentifier?) -> HandedFreshness? {
    self.state.withLock { state in state.handed.last { $0.run == run } }
  }

  /// Whether a modifier needs to know of failures.
  var remembersFailures: Bool { self.mayHaveFailure.load(ordering: .relaxed) }

  /// The failure after which neither a value came nor an invalidation; nil if there is none.
  var failure: LastFailure? { self.state.withLock { $0.failure } }

  /// The number of invalidations that the record has heard of.
  var invalidations: Int { self.state.withLock { $0.invalidations } }

  /// Replaces the last failure.
  ///
  /// - Parameters:
  ///   - failure: The new one; nil for none.
  ///   - invalidations: Only if the record has heard of this number; nil for any.
  /// - Returns: The former one, for the caller to release.
  func replaceFailure(with failure: LastFailure?, ifInvalidationsAre invalidations: Int? = nil) -> LastFailure? {
    self.state.withLock { state in
      if let invalidations, invalidations != state.invalidations { return nil }
      defer { state.failure = failure }
      return state.failure
    }
  }

  /// Forgets the last failure at an invalidation, and returns it for the caller to release.
  func forgetFailureAtInvalidation() -> LastFailure? {
    self.state.withLock { state in
      defer { state.failure = nil }
      state.invalidations += 1
      return state.failure
    }
  }

  /// The newest entry. It is about the parts of a value that a run has left in place.
  var lastEntry: Entry? { self.state.withLock { $0.entries.last } }
}

extension OperationContext {
  /// The record of the store that is being set up.
  mutating func freshnessRecord<Operation: StatefulOperationRequest>(of operation: Operation) -> FreshnessRecord {
    if let record = self.knownFreshnessRecord { return record }
    let record = FreshnessRecord { OperationNotice($0, of: operation, attributes: $1) }
    self.add(record)
    self.operationObservers.append(record)
    return record
  }

  /// Makes a record for the store that runs with this context, unless it has one. Nil without a store.
  func storeRecord() -> FreshnessRecord? {
    if let record = self.knownFreshnessRecord { return record }
    guard let store = self.runningOperationStore else { return nil }
    // Not the store, which would keep itself alive.
    let record = FreshnessRecord { [name = store.operationName, path = store.path] in
      OperationNotice($0, ofOperationNamed: name, path: path, attributes: $1)
    }
    return store.withExclusiveAccess { store in
      var context = store.context
      if let known = context.knownFreshnessRecord { return known }
      context.add(record)
      store.context = context
      return store.reference.observer { record }
    }
  }

  private mutating func add(_ record: FreshnessRecord) {
    self.callInterceptors.append(record)
    self.addEntriesToOutcomes()
    self.setFreshPeriodsOfRuns { state in
      guard let key = ValueKey(any: state), let seconds = record.entry(of: key)?.seconds else { return nil }
      return FreshPeriod(start: key.date, seconds: seconds)
    }
  }

  /// The record of the store with this context; nil if no modifier of this module has made one.
  var knownFreshnessRecord: FreshnessRecord? {
    for case let record as FreshnessRecord in self.callInterceptors { return record }
    return nil
  }
}
