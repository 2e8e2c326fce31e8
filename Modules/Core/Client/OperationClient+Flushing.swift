/// An object attached to a client that has something to write before the program ends.
///
/// ``OperationClient/flush()`` flushes the objects that are attached to a client.
public protocol OperationClientFlushable: AnyObject, Sendable {
  /// Writes what is not written yet, and returns when it is written, or soon after the current task is cancelled.
  ///
  /// - Returns: Whether everything was written. The method reports a failure itself.
  func flush() async -> Bool

  /// Called when the client has stopped its automatic runs: see ``OperationClient/stopAutomaticRuns()``.
  ///
  /// From then on nothing begins work that no caller waits for, and no caller waits for such work. The default does
  /// nothing.
  func automaticRunsDidStop()
}

extension OperationClientFlushable {
  public func automaticRunsDidStop() {}
}

extension OperationClient {
  /// Writes what the modules of the client have not written yet, such as persisted values.
  ///
  /// Call it before the program ends, after the last runs have ended. `OperationServiceLifecycle` calls it during a
  /// graceful shutdown.
  ///
  /// - Returns: Whether everything was written. False after a failure, which was reported, and when the current task
  ///   was cancelled.
  @discardableResult
  public func flush() async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      for attachment in self.flushables {
        group.addTask { await attachment.flush() }
      }
      return await group.reduce(true) { $0 && $1 }
    }
  }

  var flushables: [any OperationClientFlushable] {
    self.attachments.withLock { Array($0.values) }.compactMap { $0 as? any OperationClientFlushable }
  }
}
