/// An object attached to a client that passes invalidations on to other processes.
public protocol InvalidationRelay: AnyObject, Sendable {
  /// Called with no lock held before the stores at paths that start with `path` are invalidated in this process.
  func willInvalidate(matching path: OperationPath)

  /// Called with no lock held before the stores with tags are invalidated in this process.
  ///
  /// - Parameter tags: Each tag as a path: its name, and its identifier if it has one.
  func willInvalidate(tags: [OperationPath])
}

extension OperationClient {
  /// The attached objects that pass invalidations on.
  public var invalidationRelays: [any InvalidationRelay] {
    self.attachments.withLock { Array($0.values) }.compactMap { $0 as? any InvalidationRelay }
  }
}
