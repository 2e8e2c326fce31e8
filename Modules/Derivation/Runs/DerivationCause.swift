internal import OperationCore

/// Why derived queries run: sources that they read are refreshed once for one cause.
final class DerivationCause: Sendable {
  private static let local = TaskLocal<DerivationCause?>(wrappedValue: nil)

  /// Whether a source has changed. Otherwise somebody has asked for the value.
  let isAutomatic: Bool
  private let refreshed: Refreshed

  /// The numbers of the last invalidations of the sources that were refreshed, by store.
  private final class Refreshed: Sendable {
    let invalidations = Locked<[ObjectIdentifier: Int]>([:])
  }

  private init(isAutomatic: Bool, refreshed: Refreshed) {
    self.isAutomatic = isAutomatic
    self.refreshed = refreshed
  }

  /// The cause of the current task, or a new one.
  static var current: DerivationCause {
    self.local.get() ?? DerivationCause(isAutomatic: false, refreshed: Refreshed())
  }

  /// Runs `body` for the change of a source, which belongs to the cause of the current task if there is one.
  static func withAutomatic(_ body: () -> Void) {
    let cause = DerivationCause(isAutomatic: true, refreshed: self.local.get()?.refreshed ?? Refreshed())
    self.local.withValue(cause) { body() }
  }

  /// Runs `body` for this cause, and everything that it starts.
  nonisolated(nonsending) func perform<R>(_ body: nonisolated(nonsending) () async -> R) async -> R {
    await Self.local.withValue(self) { await body() }
  }

  /// Notes that a source is refreshed. False if that was so already, and it was not invalidated since.
  func refresh(_ source: any Source) -> Bool {
    let invalidation = source.lastInvalidation
    return self.refreshed.invalidations.withLock { invalidations in
      let former = invalidations.updateValue(invalidation, forKey: ObjectIdentifier(source))
      return former.map { $0 < invalidation } ?? true
    }
  }
}
