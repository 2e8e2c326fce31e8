/// The client of a task tree, in place of the one for the process.
package enum CurrentClient {
  /// The scope of the innermost replacement; nil where the client for the process applies.
  @TaskLocal package static var scope: ClientScope?
}

/// A replacement of the current client, which may be made at the first use.
package final class ClientScope: Sendable {
  private let client: Locked<OperationClient?>
  /// Called with the client that is made, before anybody else uses it.
  private let onMake: (@Sendable (OperationClient) -> Void)?

  /// Creates a scope.
  ///
  /// - Parameters:
  ///   - client: The client of the scope; nil to make one at the first use.
  ///   - onMake: Called with a client that is made at the first use, before it is used. It may be called with a client that
  ///     is released at once, when several threads make one.
  package init(_ client: OperationClient? = nil, onMake: (@Sendable (OperationClient) -> Void)? = nil) {
    self.client = Locked(client)
    self.onMake = onMake
  }

  /// Looks up the client of the scope, and makes it at the first use if the scope was created without one.
  ///
  /// - Parameter make: Makes the client. When several threads make one, all get the same.
  /// - Returns: The client, which is the same for all calls.
  package func client(orMake make: () -> OperationClient) -> OperationClient {
    if let client = self.client.withLock({ $0 }) { return client }
    let made = make()
    self.onMake?(made)
    return self.client.withLock { client in
      if let client { return client }
      client = made
      return made
    }
  }
}
