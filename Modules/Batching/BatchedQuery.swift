public import OperationCore

/// A query for one key, which an ``OperationBatcher`` loads together with other keys.
///
/// ```swift
/// let query = BatchedQuery(author.id, in: authors)
/// let store = client.store(for: query)
/// ```
///
/// The store of each key caches its value, and each key has its own state and its own error.
public struct BatchedQuery<Key: Hashable & Sendable, Value: Sendable>: QueryRequest {
  /// The key.
  public let key: Key

  /// The batcher.
  public let batcher: OperationBatcher<Key, Value>

  /// The path of the query.
  public let path: OperationPath

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - batcher: The batcher.
  ///   - path: The path; nil for one with the name of the batcher and the key.
  public init(_ key: Key, in batcher: OperationBatcher<Key, Value>, path: OperationPath? = nil) {
    self.key = key
    self.batcher = batcher
    self.path = path ?? ["BatchedQuery", batcher.pathElement, key]
  }

  /// Loads the value of the key.
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, any Error>
  ) async throws -> Value {
    try await self.batcher.load(self.key, in: context)
  }
}

extension OperationBatcher {
  /// Makes a query for one key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - path: The path; nil for one with the name of the batcher and the key.
  /// - Returns: A query whose runs load the key in the batches of this batcher.
  public func query(for key: Key, path: OperationPath? = nil) -> BatchedQuery<Key, Value> {
    BatchedQuery(key, in: self, path: path)
  }
}
