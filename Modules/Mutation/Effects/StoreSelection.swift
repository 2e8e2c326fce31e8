package import OperationCore

/// The stores that another module selects for an invalidation, such as those with a tag.
struct StoreSelection: Sendable {
  let client: OperationClient
  /// The name of the mutation.
  let operationName: String
  /// What the stores have in common, as text.
  let subject: @Sendable () -> String
  let stores: @Sendable (OperationClient) -> [OpaqueOperationStore]
}

extension [StoreSelection] {
  /// The selected stores, each once, without those that the other invalidations include.
  func selectedStores(outsideOf invalidations: [MutationEffects.Invalidation]) -> [OpaqueOperationStore] {
    var known: Set<ObjectIdentifier> = []
    var selected: [OpaqueOperationStore] = []
    for selection in self {
      for store in selection.stores(selection.client) where known.insert(store.identity).inserted {
        let isIncluded = invalidations.contains { $0.client === selection.client && $0.path.isPrefix(of: store.path) }
        if !isIncluded { selected.append(store) }
      }
    }
    return selected
  }
}

/// The stores that a call invalidates when it has succeeded.
package struct InvalidatedStores: Sendable {
  /// The stores at paths that start with one of these.
  let prefixes: [OperationPath]
  /// The stores at exactly these paths.
  let paths: Set<OperationPath>

  init(prefixes: [OperationPath], paths: Set<OperationPath> = []) {
    self.prefixes = prefixes
    self.paths = paths
  }

  /// Whether the store at a path is one of them.
  func contains(_ path: OperationPath) -> Bool {
    self.prefixes.contains { $0.isPrefix(of: path) } || self.paths.contains(path)
  }
}

// MARK: - For modifiers of other modules

extension OperationContext {
  /// Prepares the runs of a mutation for `MutationRequest.run(isolation:in:with:invalidating:)`: called in `setup`.
  package mutating func addMutationEffects() {
    self.performEffectsOfRuns()
  }
}

extension MutationRequest {
  /// Runs a call inside of a modifier, and invalidates stores when the call has succeeded, after all its attempts.
  ///
  /// Works like `invalidates(matching:)`, together with optimistic updates, too.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the caller.
  ///   - context: The context of the call.
  ///   - continuation: Receives what the call yields.
  ///   - selection: Called with the arguments and the value of the call. The second closure that it returns is called once,
  ///     when the call has ended, with the client of the call. It returns the stores to invalidate. The first one returns
  ///     what they have in common, as text.
  /// - Returns: The value of the call.
  /// - Throws: The error of the call.
  package func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>,
    invalidating selection: (Arguments, MutateValue) -> (
      subject: @Sendable () -> String, stores: @Sendable (OperationClient) -> [OpaqueOperationStore]
    )
  ) async throws(MutateFailure) -> MutateValue {
    try await self.run(isolation: isolation, in: context, with: continuation) { call, outcome in
      // Also when the call was cancelled: its work has succeeded, and may have changed the server.
      guard case .success(let value) = outcome else { return }
      let (subject, stores) = selection(call.arguments, value)
      let name = self.operationName
      call.share.effects.invalidate(
        StoreSelection(client: call.client, operationName: name, subject: subject, stores: stores)
      )
    }
  }
}
