public import OperationCore

// Names that other libraries have, each with the one that it has here.

extension OperationStore {
  /// Not of a store: an invalidation also reaches values that arrive later, are stored, or lie on another node.
  @available(*, unavailable, message: "an invalidation is of a path: call client.invalidate(matching: store.path)")
  public func invalidate() { preconditionFailure("Unavailable.") }

  /// Another name: ``fetch(using:handler:)`` always runs.
  @available(*, unavailable, renamed: "fetch()")
  @discardableResult
  public func refetch() async throws(State.Failure) -> State.StateValue { preconditionFailure("Unavailable.") }
}

extension OperationClient {
  /// The path has a label, as it matches all paths that begin with it.
  @available(*, unavailable, renamed: "invalidate(matching:)")
  public func invalidate(_ path: OperationPath) { preconditionFailure("Unavailable.") }
}
