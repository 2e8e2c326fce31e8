/// An object attached to a client that passes invalidations on: to other processes, or to a storage.
public protocol InvalidationRelay: AnyObject, Sendable {
  /// Called with no lock held before the stores are invalidated that an invalidation concerns.
  ///
  /// - Parameters:
  ///   - subjects: What it concerns.
  ///   - epoch: Its place in the order of all invalidations.
  ///   - relay: The relay that has learned of it from outside of the process; nil for code of the process. A relay
  ///     does not pass on what it has itself learned.
  func willInvalidate(
    _ subjects: [InvalidationSubject],
    at epoch: InvalidationEpoch,
    from relay: (any InvalidationRelay)?
  )

  /// Waits until what the relay was told so far has reached those that it passes it on to, within a time of its own.
  ///
  /// ``OperationInvalidation/settled()`` waits for it, and a mutation with invalidations before it returns. Returns early
  /// if the current task is cancelled. Returns at once by default.
  nonisolated(nonsending) func invalidationsSettled() async
}

extension InvalidationRelay {
  public nonisolated(nonsending) func invalidationsSettled() async {}
}

extension OperationClient {
  /// The attached objects that pass invalidations on.
  public var invalidationRelays: [any InvalidationRelay] {
    self.attachments.withLock { Array($0.values) }.compactMap { $0 as? any InvalidationRelay }
  }

  /// Remembers an invalidation and passes it on, before the stores that it concerns are looked up: of an invalidation and
  /// a value that arrives at the same time, one always finds the other.
  ///
  /// - Parameters:
  ///   - subjects: What it concerns.
  ///   - relay: The relay that has learned of it; nil for code of this process.
  /// - Returns: The relays that pass it on.
  @discardableResult
  public func noteInvalidation(
    of subjects: [InvalidationSubject],
    from relay: (any InvalidationRelay)? = nil
  ) -> [any InvalidationRelay] {
    if subjects.isEmpty { return [] }
    let epoch = self.invalidations.append(subjects)
    let relays = self.invalidationRelays
    for object in relays { object.willInvalidate(subjects, at: epoch, from: relay) }
    return relays
  }
}
