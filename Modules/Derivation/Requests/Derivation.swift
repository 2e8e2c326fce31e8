public import OperationCore

extension QueryRequest {
  /// Lets the query read the values of other operations, and run again when one of them changes.
  ///
  /// ```swift
  /// QueryOperation<Profile, any Error>("profile", id) { context in
  ///   let user = try await context.value(of: UserQuery(id: id))
  ///   let team = try await context.value(of: TeamQuery(id: user.teamID))
  ///   return Profile(user, team)
  /// }
  /// .derived()
  /// ```
  ///
  /// What the last run has read are the sources of the query. While its store has subscribers, each source has one, too.
  /// When the value of a source changes, the query runs again: once for one cause, after the sources that the same
  /// cause has put under way have ended. A value that equals the one before is no change if its type is `Equatable`.
  ///
  /// A value is stale when one of its sources has changed or is stale, and by the rules of the query itself.
  ///
  /// Callers of its store share a run that is under way.
  ///
  /// - Returns: The query. In a client its reads are sources; without a client each is a plain run.
  public func derived() -> ModifiedOperation<Self, Derivation<Self>> {
    self.modifier(Derivation(keeping: []))
  }

  /// Lets the query read the values of other operations, and keeps sources even if a run has not read them.
  ///
  /// Use it for a list of sources that the query reads in a task group: when one of them fails, the group does not wait
  /// for the others, which stay sources all the same.
  ///
  /// - Parameter sources: Queries that are sources while the store of this query has subscribers, read or not.
  /// - Returns: The query, which works as with ``derived()`` otherwise.
  public func derived<Source: QueryRequest>(
    keeping sources: some Sequence<Source>
  ) -> ModifiedOperation<Self, Derivation<Self>> {
    self.modifier(Derivation(keeping: sources.map { KeptSource($0) }))
  }
}

/// Makes the stores that a query reads its sources; applied by ``OperationCore/QueryRequest/derived()``.
public struct Derivation<Operation: QueryRequest>: OperationModifier {
  private let keptSources: [KeptSource]

  init(keeping sources: [KeptSource]) {
    self.keptSources = sources
  }

  public var sourceText: String {
    self.keptSources.isEmpty ? ".derived()" : ".derived(keeping: \(self.keptSources.count) sources)"
  }

  /// Makes the node of the store, then sets up the query.
  public func setup(context: inout OperationContext, using operation: Operation) {
    let node = DerivationNode(name: operation.operationName, keptSources: self.keptSources)
    context.derivationNode = node
    context.hasSources = true
    if let revision = context.operationClient?.derivations.revision {
      context.operationObservers.append(SourceObserver(revision, of: node))
    }
    context.operationControllers.append(DerivationController<Operation.State>(node: node))
    context.addEventHandler(
      OperationEventHandler<Operation.State>(onStateChanged: { state, _ in
        if !state.isLoading { node.runsHaveEnded() }
      })
    )
    context.addStalenessRule(
      because: "one of its sources has changed or is stale",
      wasInvalidated: { _, _ in DerivationGraph.wasInvalidated(node) },
      { state, _ in state.valueUpdateCount == 0 || node.isStale }
    )
    context.addEntriesToOutcomes()
    // What reads the store while a run is about to start would start another one.
    if context.operationRunSharing == nil { context.operationRunSharing = OperationRunSharing() }
    operation.setup(context: &context)
  }

  /// Runs the query until what it has read is consistent.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard let run = DerivedRun(in: context) else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    return try await run.perform(isolation: isolation, in: context, using: operation, with: continuation)
  }
}

/// Gives the node of a derived query control of its store.
struct DerivationController<State: OperationState & Sendable>: OperationController, Sendable {
  let node: DerivationNode

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    self.node.begin(
      DerivationNode.Controls(
        context: { controls.context },
        isLoading: { controls.state.isLoading },
        isSettled: { controls.isSettled },
        subscriberCount: { controls.subscriberCount },
        rerun: { source in controls.rerunForSubscribersAtOnce(source.map { .source($0) }) },
        settled: { await controls.settled() },
        restamp: { stamp, former, isStillShown in controls.restamp(stamp, from: former, if: isStillShown) },
        performInEventOrder: { controls.performInEventOrder($0) }
      )
    )
    let activity = controls.observeActivity { [node] in node.followActivity() }
    return OperationSubscription { [node] in
      activity.cancel()
      node.end()
    }
  }
}
