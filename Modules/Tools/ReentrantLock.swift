public import Synchronization

/// A lock that the owning thread can enter again inside ``withExclusiveAccess(_:)``.
///
/// ``withLock(_:)`` alone is a plain lock. ``withExclusiveAccess(_:)`` runs foreign code while it holds the lock, and
/// calls of either method that this code makes on the same thread proceed without locking again.
@usableFromInline
package struct ReentrantLock: ~Copyable, Sendable {
  /// The thread that has exclusive access; 0 for none. Written by that thread only, while it holds the lock.
  @usableFromInline let owner = Atomic<UInt>(0)
  // The byte is not read. A value without a size would lie at the address of the next field, and the thread sanitizer
  // would report accesses to the two as a race.
  @usableFromInline let mutex = Mutex<UInt8>(0)

  @inlinable
  package init() {}

  /// Whether the current thread has exclusive access.
  @inlinable
  package var isOwnedByCurrentThread: Bool {
    let owner = self.owner.load(ordering: .relaxed)
    // Only this thread writes its own identifier, so a relaxed load never returns it for another thread.
    return owner != 0 && owner == ThreadLocal.currentThread
  }

  /// Runs `body`, which must not call foreign code.
  @inlinable
  package func withLock<R: ~Copyable>(_ body: () -> R) -> R {
    if self.isOwnedByCurrentThread { return body() }
    return self.mutex.withLock { _ in Unsent(body()) }.value
  }

  /// Runs `body`, which may call anything, and keeps other threads out until it returns.
  @inlinable
  package func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    if self.isOwnedByCurrentThread { return try body() }
    return try self.mutex.withLockOnThread { _ throws(E) in
      self.owner.store(ThreadLocal.currentThread, ordering: .relaxed)
      defer { self.owner.store(0, ordering: .relaxed) }
      return try body()
    }
  }
}

/// Wraps the result of `Mutex.withLock`, which is used on the thread that took the lock.
@usableFromInline
package struct Unsent<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Unchecked because the value stays on one thread: it only leaves the closure that the lock calls.
  @usableFromInline package let value: Value

  @inlinable
  package init(_ value: consuming Value) {
    self.value = value
  }
}

extension Unsent: Copyable where Value: Copyable {}
