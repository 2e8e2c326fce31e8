public import Synchronization

// The code of the locks is inlined into the modules that use them: called with its types unknown, it makes a fetch a fifth longer.

/// A lock around a value that owns objects of users: closures, states, contexts or path elements.
///
/// A user's deinitializer, `==` or closure may call code that takes the same lock, which is not reentrant. So code
/// under the lock does not release such objects: it appends them to its ``ReleasedValues``, which are released after
/// unlocking.
@usableFromInline
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>

  @inlinable
  package init(_ value: Value) {
    self.mutex = Mutex(value)
  }

  /// Runs `body` under the lock. It must not release a value that owns user code.
  @inlinable
  package borrowing func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    try self.mutex.withLockOnThread(body)
  }
}

extension Locked {
  /// Runs `body` under the lock, and after unlocking releases the values that it appends to its second parameter.
  @inlinable
  package borrowing func withLock<R, E: Error>(
    _ body: (inout Value, inout ReleasedValues) throws(E) -> R
  ) throws(E) -> R {
    var released = ReleasedValues()
    return try self.withLock { value throws(E) in try body(&value, &released) }
  }
}

/// Values removed under a lock and released after unlocking.
@usableFromInline
package struct ReleasedValues: ~Copyable {
  @usableFromInline var values: [Any] = []

  @inlinable
  package init() {}

  /// Keeps a value alive until the lock is released.
  @inlinable
  package mutating func append<Value>(_ value: Value?) {
    if let value { self.values.append(value) }
  }
}

extension Mutex {
  /// Runs `body` under the lock. Its result, which stays on the thread, need not be sendable.
  @inlinable
  package borrowing func withLockOnThread<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    try self.withLock { value throws(E) -> R in
      // Unsafe only in name: the result stays on this thread. A type around it would be looked up in each call.
      nonisolated(unsafe) let result = try body(&value)
      return result
    }
  }
}
