extension OperationClient {
  /// Marks the stores at paths that start with `path` as stale, and reruns those with subscribers.
  ///
  /// The stores are stale regardless of their staleness rules. A call made afterwards never receives the result of an
  /// earlier run: a run that is under way does not make the store fresh, and when it has ended, the store runs again
  /// for its subscribers. Stores whose automatic running is disabled, or whose specification for it is not satisfied,
  /// are marked but not rerun.
  ///
  /// ```swift
  /// client.invalidate(matching: ["posts"])                  // Continues immediately.
  /// await client.invalidate(matching: ["posts"]).settled()  // Waits for the reruns.
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  /// - Complexity: O(*n*) in the number of matching stores.
  @discardableResult
  public func invalidate(
    matching path: OperationPath = [],
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    self.invalidate(matching: path, by: nil, isolation: isolation)
  }

  /// Marks stores as stale, and reruns those with subscribers, as ``invalidate(matching:isolation:)`` does.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - operationName: The name of the operation that invalidates the stores; nil for other code.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  @discardableResult
  package func invalidate(
    matching path: OperationPath,
    by operationName: String?,
    isolation: (any Actor)?
  ) -> OperationInvalidation {
    self.noteInvalidation(of: [.path(path)])
    let runtimes = self.storage.runtimes(matching: path)
    let date = runtimes.first?.context.date
    let record = InvalidationRecord(of: path, by: operationName ?? RunningOperation.name, at: date)
    return Self.invalidate(runtimes, record, isEnqueued: isolation != nil)
  }

  /// Marks stores as stale, and reruns those with subscribers, as ``invalidate(matching:isolation:)`` does.
  ///
  /// - Parameters:
  ///   - stores: The stores of a client, each once.
  ///   - subject: A text for what the stores have in common, such as their tags.
  ///   - operationName: The name of the operation that invalidates the stores; nil for other code.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  package static func invalidate(
    _ stores: [OpaqueOperationStore],
    subject: @escaping @Sendable () -> String,
    by operationName: String? = nil,
    isolation: (any Actor)?
  ) -> OperationInvalidation {
    let (name, date) = (operationName ?? RunningOperation.name, stores.first?.runtime.context.date)
    let record = InvalidationRecord(by: name, at: date, subject)
    return self.invalidate(stores.map(\.runtime), record, isEnqueued: isolation != nil)
  }

  private static func invalidate(
    _ runtimes: [StoreRuntime],
    _ record: InvalidationRecord,
    isEnqueued: Bool
  ) -> OperationInvalidation {
    let stores = runtimes.map { OperationInvalidation.Store(runtime: $0, number: $0.invalidate(record)) }
    for runtime in runtimes { runtime.rerunAfterInvalidation(isEnqueued: isEnqueued) }
    return OperationInvalidation(stores: stores)
  }
}

extension OpaqueOperationStore {
  /// Invalidates the store because of an invalidation that its value has arrived too late for.
  ///
  /// - Parameter subject: Returns what the invalidation concerns, as text.
  package func invalidateLateValue(_ subject: @escaping @Sendable () -> String) {
    self.runtime.invalidate(InvalidationRecord(by: nil, at: self.runtime.context.date, subject))
    self.runtime.rerunAfterInvalidation(isEnqueued: true)
  }

  /// Identifies the store, as long as it exists. All references to one store have the same identity.
  package var identity: ObjectIdentifier { ObjectIdentifier(self.store) }
}

/// The reruns caused by an invalidation.
public struct OperationInvalidation: Sendable {
  struct Store: Sendable {
    let runtime: StoreRuntime
    let number: Int
  }

  let stores: [Store]

  /// Waits until the reruns have settled or the current task is cancelled.
  ///
  /// Stores without subscribers are not rerun, so this method does not wait for them.
  public func settled() async {
    await withDiscardingTaskGroup { group in
      for store in self.stores {
        group.addTask { await store.runtime.settled(afterInvalidation: store.number) }
      }
    }
  }
}
