/// An object that a module keeps with a client, and that has something to write before the program ends.
///
/// ``OperationClient/flush()`` flushes the objects that are attached to a client.
public protocol OperationClientFlushable: AnyObject, Sendable {
  /// Writes what is not written yet, and waits until it is.
  ///
  /// Return soon when the current task is cancelled.
  ///
  /// - Returns: Whether all was written. A failure has been reported.
  func flush() async -> Bool
}

extension OperationClient {
  /// Writes what the modules of the client have not written yet, such as persisted values, and waits until it is.
  ///
  /// Call it before the program ends, when the last runs have ended. `OperationServiceLifecycle` does so at a graceful
  /// shutdown.
  ///
  /// - Returns: Whether all was written. A failure has been reported. False as well when the current task is cancelled
  ///   before.
  @discardableResult
  public func flush() async -> Bool {
    let attachments = self.attachments.withLock { Array($0.values) }
    return await withTaskGroup(of: Bool.self) { group in
      for case let attachment as any OperationClientFlushable in attachments {
        group.addTask { await attachment.flush() }
      }
      return await group.reduce(true) { $0 && $1 }
    }
  }
}
