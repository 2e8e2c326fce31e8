/// Receives the results that an operation yields while it runs, before it returns.
///
/// ```swift
/// if let cached = cache.post(id) { continuation.yield(cached) }
/// return try await fetchPost(id)
/// ```
///
/// A yield after the run has returned has no effect and is reported as an ``OperationWarning``.
public struct OperationContinuation<Value, Failure: Error>: Sendable {
  @usableFromInline let onResult: @Sendable (Result<Value, Failure>, OperationContext?) -> Void

  /// Creates a continuation.
  ///
  /// - Parameter onResult: Called for each yielded result on the yielding thread, with the context passed to the yield,
  ///   if any.
  @inlinable
  public init(onResult: @escaping @Sendable (Result<Value, Failure>, OperationContext?) -> Void) {
    self.onResult = onResult
  }

  /// Yields a value.
  @inlinable
  public func yield(_ value: Value, using context: OperationContext? = nil) {
    self.yield(with: .success(value), using: context)
  }

  /// Yields an error, after which the run continues.
  @inlinable
  public func yield(error: Failure, using context: OperationContext? = nil) {
    self.yield(with: .failure(error), using: context)
  }

  /// Yields a result, after which the run continues.
  @inlinable
  public func yield(with result: Result<Value, Failure>, using context: OperationContext? = nil) {
    self.onResult(result, context)
  }
}

// MARK: - Values that stay

/// What a value is that a run has committed: see ``OperationContinuation/commit(_:as:using:)``.
public enum CommittedValueKind: Sendable {
  /// More is to come. The value is never fresh, as any value that is yielded.
  case partial
  /// The value is as good as one that the run returns: it is fresh by the rules of the operation.
  case final
}

extension OperationContinuation {
  /// Yields a value that stays, also if the run is cancelled or fails after it.
  ///
  /// ```swift
  /// for try await message in messages(after: last) {
  ///   list.append(message)
  ///   continuation.commit(list)
  /// }
  /// ```
  ///
  /// When a run is cancelled, its store takes back what the run has yielded. A run that lasts as long as it has subscribers,
  /// such as a stream or a long download, always ends by cancellation, and its values so far are worth keeping. A committed
  /// value stays, with all that the run has yielded before it. A subscriber that comes later keeps the run alive, if the
  /// operation runs for its subscribers. For an invalidation a committed value counts as the result of a run: it answers the
  /// invalidations from before the run.
  ///
  /// It is a plain yield in a derived query, in a mutation, and for a caller without a store.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - kind: What the value is. A partial one is never fresh.
  ///   - context: Entries for the context of the event; nil for none.
  public func commit(
    _ value: Value,
    as kind: CommittedValueKind = .partial,
    using context: OperationContext? = nil
  ) {
    var context = context ?? OperationContext()
    context.committedValueKind = kind
    self.yield(value, using: context)
  }
}

extension OperationContext {
  /// How the store keeps a value that is yielded with this context; nil, the default, for a yield that can be taken back.
  ///
  /// ``OperationContinuation/commit(_:as:using:)`` sets it. A modifier whose operation must not commit removes it from the
  /// context of a yield.
  public var committedValueKind: CommittedValueKind? {
    get { self[CommittedValueKindKey.self] }
    set { self[CommittedValueKindKey.self] = newValue }
  }

  // It is an entry, and no field of the events: a field makes each context larger, and a fetch with defaults allocates once more.
  private enum CommittedValueKindKey: Key {
    static var defaultValue: CommittedValueKind? { nil }
  }
}
