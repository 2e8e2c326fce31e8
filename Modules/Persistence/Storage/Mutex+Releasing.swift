internal import OperationCore
internal import Synchronization

// A mutex of a type of this module is compiled into its callers. `Locked`, which is not, looks types up in each call: that
// matters where each store makes several of them.
extension Mutex where Value: Sendable {
  /// Runs `body` under the lock, and after unlocking releases the values that it appends to its second parameter.
  ///
  /// Code under the lock releases nothing that owns user code: see `Locked`.
  borrowing func withLock<R, E: Error>(_ body: (inout Value, inout ReleasedValues) throws(E) -> R) throws(E) -> R {
    var released = ReleasedValues()
    return try self.withLock { value throws(E) -> R in
      // Unsafe only in name: the result stays on this thread.
      nonisolated(unsafe) let result = try body(&value, &released)
      return result
    }
  }
}
