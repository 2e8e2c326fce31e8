internal import OperationCore

/// Why derived queries run: sources that they read are refreshed once for one cause.
final class DerivationCause: Sendable {
  private static let local = TaskLocal<DerivationCause?>(wrappedValue: nil)

  /// Whether a source has changed. Otherwise the value was asked for.
  let isAutomatic: Bool
  private let refreshed: Refreshed

  private final class Refreshed: Sendable {
    /// The last refreshes of sources, by store.
    let refreshes = Locked<[ObjectIdentifier: DerivationRefresh]>([:])
    /// The stores that were read, also by the queries that a query reads.
    let sources = Locked<[ObjectIdentifier: any Source]>([:])
  }

  private init(isAutomatic: Bool, refreshed: Refreshed) {
    self.isAutomatic = isAutomatic
    self.refreshed = refreshed
  }

  /// The cause of the current task; nil if there is none.
  static var current: DerivationCause? { self.local.get() }

  /// A new cause, because a value is asked for.
  static func asking() -> DerivationCause { DerivationCause(isAutomatic: false, refreshed: Refreshed()) }

  /// Runs `body` for the change of a source, which belongs to the cause of the current task if there is one.
  static func withAutomatic(_ body: () -> Void) {
    let former = self.current
    let cause = DerivationCause(isAutomatic: true, refreshed: former?.refreshed ?? Refreshed())
    self.local.withValue(cause) { body() }
    if former == nil { cause.releaseSources() }
  }

  /// Runs `body` for this cause, and everything that it starts.
  nonisolated(nonsending) func perform<R>(_ body: nonisolated(nonsending) () async -> R) async -> R {
    await Self.local.withValue(self) { await body() }
  }

  /// Keeps a source alive until the first run for this cause has ended.
  ///
  /// A client that keeps no idle stores would otherwise release the sources of a query once that has run, and a query
  /// that reads it could not see that they are unchanged.
  func keep(_ source: any Source) {
    self.refreshed.sources.withLock { $0[ObjectIdentifier(source)] = source }
  }

  /// Releases the sources, when the first run for this cause has ended.
  func releaseSources() {
    let sources = self.refreshed.sources.withLock { sources in
      defer { sources = [:] }
      return sources
    }
    _ = consume sources  // Released after unlocking.
  }

  /// Notes that a source is about to be refreshed.
  func noteBegin(of refresh: DerivationRefresh) {
    self.refreshed.refreshes.withLock { refreshes in
      if let former = refreshes[refresh.source], former.hasEnded, former.invalidation >= refresh.invalidation { return }
      refreshes[refresh.source] = refresh
    }
  }

  /// Notes that a refresh has ended with a value or an error, and was not cancelled.
  func noteEnd(of refresh: DerivationRefresh) {
    self.refreshed.refreshes.withLock { refreshes in
      if let last = refreshes[refresh.source], last.invalidation > refresh.invalidation { return }
      refreshes[refresh.source] = refresh
      refreshes[refresh.source]?.hasEnded = true
    }
  }

  /// Whether a source was refreshed for the cause, and not invalidated since.
  ///
  /// A refresh that has brought nothing yet does not count: it may be cancelled with the query that has begun it. A reader that
  /// needs the value joins that run, or runs the source.
  func hasRefreshed(_ source: any Source) -> Bool {
    guard let last = self.refreshed.refreshes.withLock({ $0[ObjectIdentifier(source)] }),
      last.invalidation >= source.lastInvalidation
    else { return false }
    if last.hasEnded { return true }
    // A reader may see what the run has brought before the one that has begun it goes on.
    return last.resultCount != source.resultCount && (!source.isInvalidated || source.hasFailed)
  }
}

/// A run of a source for a cause.
struct DerivationRefresh: Sendable {
  fileprivate let source: ObjectIdentifier
  /// The number of the last invalidation of the source before the run.
  fileprivate let invalidation: Int
  /// The number of the results of the source before the run.
  fileprivate let resultCount: Int
  fileprivate var hasEnded = false

  init(of source: any Source) {
    self.source = ObjectIdentifier(source)
    self.invalidation = source.lastInvalidation
    self.resultCount = source.resultCount
  }
}
