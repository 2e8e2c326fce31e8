import Synchronization

/// A number that any thread may increment.
package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  package var value: Int { self.count.load(ordering: .acquiring) }

  /// Adds one, and returns the sum.
  @discardableResult
  package func increment() -> Int {
    self.count.add(1, ordering: .acquiringAndReleasing).newValue
  }
}
