internal import Synchronization

/// A value behind a lock, for values that own what users have made: closures, states, contexts, path elements.
///
/// A deinitializer, `==` or closure of the user's may call whatever takes the same lock, which is not reentrant. So no
/// change drops such a thing: it appends it to the ``ReleasedValues`` that it gets, which go when the lock is free again.
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>

  package init(_ value: Value) {
    self.mutex = Mutex(value)
  }

  /// Runs `body`, which drops nothing that owns user code, under the lock.
  package borrowing func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    try self.mutex.withLock { value throws(E) in Unsent(try body(&value)) }.value
  }
}

extension Locked {
  /// Runs `body` under the lock, and releases what it appends to its second parameter after it.
  package borrowing func withLock<R, E: Error>(
    _ body: (inout Value, inout ReleasedValues) throws(E) -> R
  ) throws(E) -> R {
    var released = ReleasedValues()
    return try self.mutex.withLock { value throws(E) in Unsent(try body(&value, &released)) }.value
  }
}

/// What leaves a value that a lock guards. It is released when this goes, which is after the lock.
@usableFromInline
package struct ReleasedValues: ~Copyable {
  private var values: [Any] = []

  @usableFromInline
  package init() {}

  /// Keeps a value until the lock is free.
  package mutating func append<Value>(_ value: Value?) {
    if let value { self.values.append(value) }
  }
}
