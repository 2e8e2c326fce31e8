/// An object attached to a client that holds values for stores which do not exist yet.
///
/// Clearing or resetting stores discards these values too, so that a store made afterwards does not begin with one.
public protocol OperationClientPreloading: AnyObject, Sendable {
  /// Discards the values for stores at paths that start with `path`.
  ///
  /// Called with no lock held, before the stores are cleared or reset.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  func discardPreloaded(matching path: OperationPath)

  /// Discards the value for the store at `path`. Values for stores below it stay.
  ///
  /// Called with no lock held, before the store is cleared.
  ///
  /// - Parameter path: The path.
  func discardPreloaded(at path: OperationPath)
}

extension OperationClient {
  /// The attached objects that hold values for stores which do not exist yet.
  var preloading: [any OperationClientPreloading] {
    self.attachments.withLock { Array($0.values) }.compactMap { $0 as? any OperationClientPreloading }
  }
}
