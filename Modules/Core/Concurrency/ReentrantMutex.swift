public import Synchronization

/// A mutex that its owner may enter again.
///
/// ``withLock(_:)`` is a plain mutex. ``withExclusiveAccess(_:)`` runs foreign code while it holds the mutex, and each
/// entry that this code makes from the same thread, of either kind, goes straight through.
@usableFromInline
final class ReentrantMutex<Value: Sendable>: Sendable {
  @usableFromInline let lock = ReentrantLock()
  // Unsafe only in name: touched by whoever holds the lock, which also makes the accesses exclusive.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
  }

  /// Whether the current thread has exclusive access.
  @inlinable
  var isOwnedByCurrentThread: Bool { self.lock.isOwnedByCurrentThread }

  /// Runs `body`, which must not call foreign code, with the value.
  @inlinable
  func withLock<R>(_ body: (inout Value) -> R) -> R {
    self.lock.withLock { body(&self.value) }
  }

  /// Runs `body`, which may call anything, and keeps other threads out until it returns.
  @inlinable
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try self.lock.withExclusiveAccess(body)
  }
}

/// What a ``ReentrantMutex`` locks with, for those who keep the value themselves.
///
/// It knows nothing of the value, so that generic code enters it without looking up a type.
@usableFromInline
struct ReentrantLock: ~Copyable, Sendable {
  /// The thread that has exclusive access; 0 for none. Written by that thread only, while it holds the mutex.
  @usableFromInline let owner = Atomic<UInt>(0)
  @usableFromInline let mutex = Mutex(())

  @inlinable
  init() {}

  /// Whether the current thread has exclusive access.
  @inlinable
  var isOwnedByCurrentThread: Bool {
    let owner = self.owner.load(ordering: .relaxed)
    // Only this thread could have written its own name, so a relaxed load cannot mistake another's for it.
    return owner != 0 && owner == ThreadLocal.currentThread
  }

  /// Runs `body`, which must not call foreign code.
  @inlinable
  func withLock<R>(_ body: () -> R) -> R {
    if self.isOwnedByCurrentThread { return body() }
    return self.mutex.withLock { _ in Unsent(body()) }.value
  }

  /// Runs `body`, which may call anything, and keeps other threads out until it returns.
  @inlinable
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    if self.isOwnedByCurrentThread { return try body() }
    return try self.mutex.withLock { _ throws(E) -> Unsent<R> in
      self.owner.store(ThreadLocal.currentThread, ordering: .relaxed)
      defer { self.owner.store(0, ordering: .relaxed) }
      return Unsent(try body())
    }.value
  }
}

/// Carries a result out of `Mutex.withLock` on the thread that took the lock.
@usableFromInline
struct Unsent<Value>: @unchecked Sendable {
  // Unchecked because it never leaves the thread: it only crosses the closure that the lock calls.
  @usableFromInline let value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
  }
}
