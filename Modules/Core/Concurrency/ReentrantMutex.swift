public import Synchronization

/// A mutex that the owning thread can enter again inside ``withExclusiveAccess(_:)``.
///
/// ``withLock(_:)`` alone is a plain mutex. ``withExclusiveAccess(_:)`` runs foreign code while it holds the mutex, and
/// calls of either method that this code makes on the same thread proceed without locking again.
@usableFromInline
final class ReentrantMutex<Value: Sendable>: Sendable {
  @usableFromInline let lock = ReentrantLock()
  // Unsafe only in name: the lock guards all accesses.
  @usableFromInline nonisolated(unsafe) var value: Value

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

/// The lock of a ``ReentrantMutex`` without a value, for owners that store the value themselves.
///
/// It is not generic, so that generic code uses it without looking up type metadata.
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
    // Only this thread writes its own identifier, so a relaxed load never returns it for another thread.
    return owner != 0 && owner == ThreadLocal.currentThread
  }

  /// Runs `body`, which must not call foreign code.
  @inlinable
  func withLock<R: ~Copyable>(_ body: () -> R) -> R {
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

/// Wraps the result of `Mutex.withLock`, which is used on the thread that took the lock.
@usableFromInline
struct Unsent<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Unchecked because the value stays on one thread: it only leaves the closure that the lock calls.
  @usableFromInline let value: Value

  @inlinable
  init(_ value: consuming Value) {
    self.value = value
  }
}

extension Unsent: Copyable where Value: Copyable {}
