internal import OperationCore

/// Why derived queries run: sources that they read are refreshed once for one cause.
final class DerivationCause: Sendable {
  private static let local = TaskLocal<DerivationCause?>(wrappedValue: nil)

  /// Whether a source has changed. Otherwise the value was asked for.
  let isAutomatic: Bool
  private let refreshed: Refreshed

  private final class Refreshed: Sendable {
    /// The numbers of the last invalidations of the sources that were refreshed, by store.
    let invalidations = Locked<[ObjectIdentifier: Int]>([:])
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

  /// Whether a source was refreshed for the cause, and not invalidated since.
  ///
  /// A refresh that is under way does not count: it may be cancelled with the query that has begun it. Who needs the value
  /// joins it, or runs the source.
  func hasRefreshed(_ source: any Source) -> Bool {
    let last = self.refreshed.invalidations.withLock { $0[ObjectIdentifier(source)] }
    return last.map { $0 >= source.lastInvalidation } ?? false
  }

  /// Notes that a refresh has ended with a value or an error, and was not cancelled.
  func noteEnd(of refresh: DerivationRefresh) {
    self.refreshed.invalidations.withLock { invalidations in
      invalidations[refresh.source] = max(refresh.invalidation, invalidations[refresh.source] ?? 0)
    }
  }
}

/// A run of a source for a cause.
struct DerivationRefresh: Sendable {
  fileprivate let source: ObjectIdentifier
  /// The number of the last invalidation of the source before the run.
  fileprivate let invalidation: Int

  init(of source: any Source) {
    self.source = ObjectIdentifier(source)
    self.invalidation = source.lastInvalidation
  }
}
