internal import Synchronization

/// Numbers the invalidations of all stores of the process, so that work from before one can be told from work after it.
package enum InvalidationNumber {
  private static let last = Atomic<Int>(0)

  /// The number of the invalidation that came last; 0 before the first.
  ///
  /// Work that reads it when it begins answers all invalidations up to this number.
  package static var latest: Int { self.last.load(ordering: .acquiring) }

  static func next() -> Int { self.last.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}

extension OperationContext {
  /// The last invalidation of the store that runs the operation with this context. A run that begins with this context must not
  /// be served by work from before it.
  @usableFromInline package var lastInvalidation: Int { self.run.store?.lastInvalidation ?? 0 }
}
