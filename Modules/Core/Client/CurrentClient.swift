/// The client of a task tree, in place of the one for the process.
package enum CurrentClient {
  /// The scope of the innermost replacement; nil where the client for the process applies.
  @TaskLocal package static var scope: ClientScope?
}

/// A replacement of the current client, which may be made at the first use.
package final class ClientScope: Sendable {
  private let client: Locked<OperationClient?>

  /// Creates a scope.
  ///
  /// - Parameter client: The client of the scope; nil to make one at the first use.
  package init(_ client: OperationClient? = nil) {
    self.client = Locked(client)
  }

  /// Looks up the client of the scope, and makes it at the first use if the scope was created without one.
  ///
  /// - Parameter make: Makes the client. When several threads make one, all get the same.
  /// - Returns: The client, which is the same for all calls.
  package func client(orMake make: () -> OperationClient) -> OperationClient {
    if let client = self.client.withLock({ $0 }) { return client }
    let made = make()
    return self.client.withLock { client in
      if let client { return client }
      client = made
      return made
    }
  }
}
