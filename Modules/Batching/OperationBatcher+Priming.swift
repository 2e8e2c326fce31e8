public import OperationCore

extension OperationBatcher {
  /// Gives the batcher the value of a key, which later callers then get at once.
  ///
  /// Use it for values that another request has brought along. It is not kept by a time: call ``clear(_:in:)`` when it may
  /// have changed. Callers that wait already get the answer of their batch.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value of the key.
  ///   - context: Its scope counts: callers of other scopes do not get the value.
  /// - Complexity: O(1), over many calls.
  public func prime(_ key: Key, with value: Value, in context: OperationContext = OperationContext()) {
    self.primed.set(.success(value), for: key, in: context)
  }

  /// Gives the batcher the error of a key, which later callers then get at once.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - error: The error of the key.
  ///   - context: Its scope counts.
  /// - Complexity: O(1), over many calls.
  public func prime(_ key: Key, withFailure error: any Error, in context: OperationContext = OperationContext()) {
    self.primed.set(.failure(error), for: key, in: context)
  }

  /// Forgets what ``prime(_:with:in:)`` has given the batcher for a key, so that the next caller asks for it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - context: Its scope counts.
  public func clear(_ key: Key, in context: OperationContext = OperationContext()) {
    self.primed.remove(key, in: context)
  }

  /// Forgets what the batcher was given for all keys, in all scopes.
  public func clearAll() {
    self.primed.removeAll()
  }
}
