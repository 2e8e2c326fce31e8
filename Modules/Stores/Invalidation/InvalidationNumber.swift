internal import Synchronization

/// Numbers the invalidations of all stores in the process, to order work relative to them.
enum InvalidationNumber {
  private static let last = Atomic<Int>(0)

  /// The number of the last invalidation; 0 before the first.
  ///
  /// Work that reads this number when it begins answers all invalidations up to it.
  static var latest: Int { self.last.load(ordering: .acquiring) }

  static func next() -> Int { self.last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}

extension OperationContext {
  /// The number of the last invalidation of the store that runs the operation with this context; 0 without one.
  ///
  /// A run that begins with this context must not join work that began before that invalidation.
  @usableFromInline package var lastInvalidation: Int { self.run.store?.lastInvalidation ?? 0 }

  /// Whether a value that was made before an invalidation of it has come to the store that runs the operation with this context,
  /// since `epoch` was the latest.
  package func hasMissedInvalidation(since epoch: InvalidationEpoch) -> Bool {
    self.run.store?.runtime?.hasMissedInvalidation(since: epoch.rawValue) ?? false
  }
}
