/// The client of a task tree, in place of the one for the process.
///
/// It is the one of the innermost replacement, or of the store whose run the current task works for: whichever is further
/// inside. A task that has caused the run, such as one that invalidates a store, is not further inside.
package enum CurrentClient {
  /// Looks up the current client.
  ///
  /// - Parameter make: Makes the client of a scope that has none yet.
  /// - Returns: The client; nil where the one for the process applies.
  package static func client(orMake make: () -> OperationClient) -> OperationClient? {
    switch EnclosingRun.local.get().client {
    case .scope(let scope): (scope as? ClientScope)?.client(orMake: make)
    case .store(let reference): reference.client
    case nil: nil
    }
  }

  /// Performs `body` with the client of a scope.
  package nonisolated(nonsending) static func withScope<R>(
    _ scope: ClientScope,
    _ body: nonisolated(nonsending) () async throws -> R
  ) async rethrows -> R {
    try await EnclosingRun.local.withValue(self.surroundings(of: scope), operation: body)
  }

  /// Performs `body` with the client of a scope.
  package static func withScope<R>(_ scope: ClientScope, _ body: () throws -> R) rethrows -> R {
    try EnclosingRun.local.withValue(self.surroundings(of: scope), operation: body)
  }

  private static func surroundings(of scope: ClientScope) -> EnclosingRun.Surroundings {
    EnclosingRun.Surroundings(run: EnclosingRun.run, client: .scope(scope))
  }
}

/// A replacement of the current client, which may be made at the first use.
package final class ClientScope: Sendable {
  private let client: Locked<OperationClient?>
  /// Called with the client that is made, before it is used.
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
