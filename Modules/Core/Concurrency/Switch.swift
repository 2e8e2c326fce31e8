internal import Synchronization

/// A flag that tells what it was when it is set.
package final class Switch: Sendable {
  private let value: Atomic<Bool>

  package init(_ value: Bool) {
    self.value = Atomic(value)
  }

  package var isOn: Bool { self.value.load(ordering: .acquiring) }

  /// Sets the flag, and returns what it was.
  package func set(_ value: Bool) -> Bool {
    self.value.exchange(value, ordering: .acquiringAndReleasing)
  }
}
