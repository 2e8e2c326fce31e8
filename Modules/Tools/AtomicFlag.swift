internal import Synchronization

/// An atomic flag whose setter returns the previous value.
@usableFromInline
package final class AtomicFlag: Sendable {
  private let value: Atomic<Bool>

  @usableFromInline
  package init(_ value: Bool) {
    self.value = Atomic(value)
  }

  @usableFromInline package var isOn: Bool { self.value.load(ordering: .acquiring) }

  /// Sets the flag, and returns its previous value.
  @usableFromInline
  package func set(_ value: Bool) -> Bool {
    self.value.exchange(value, ordering: .acquiringAndReleasing)
  }
}
