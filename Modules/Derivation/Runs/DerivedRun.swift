public import OperationCore

/// A run of a derived query, which calls the body until what that has read is consistent.
struct DerivedRun {
  /// How often a body is called in one run. Sources that change each time never become consistent.
  private static let maximumEvaluations = 100

  private let node: DerivationNode
  private let queue: DerivationQueue
  private let cause: DerivationCause
  private let isAutomatic: Bool
  /// Whether this is the first run for the cause, which ends after those that it starts.
  private let isFirst: Bool
  /// The refresh of the store of the query.
  private let refresh: DerivationRefresh?

  /// Makes the run with a context; nil outside a store of a client.
  init?(in context: OperationContext) {
    guard let client = context.operationClient, let store = context.runningOperationStore,
      let node = store.context.derivationNode
    else { return nil }
    self.node = node
    self.queue = client.derivations
    let cause = DerivationCause.current
    self.isFirst = cause == nil
    self.cause = cause ?? .asking()
    // Who reads the store for the same cause needs no second run.
    self.refresh = (store.base as? any Source).map { DerivationRefresh(of: $0) }
    if let refresh { self.cause.noteBegin(of: refresh) }
    self.isAutomatic = self.cause.isAutomatic || store.isInvalidated
  }

  func perform<Query: QueryRequest>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using query: Query,
    with continuation: OperationContinuation<Query.Value, Query.Failure>
  ) async throws(Query.Failure) -> Query.Value {
    context.vetoRetry(false)
    self.queue.beginRun()
    defer {
      self.queue.endRun()
      if self.isFirst { self.cause.releaseSources() }
    }
    var count = 0
    while true {
      count += 1
      let isAutomatic = self.isAutomatic || count > 1
      context.outcomeStamp = ValueStamp(.final)
      let evaluation = Evaluation(of: self.node, for: self.cause, isAutomatic: isAutomatic, in: self.queue.revision)
      let result = await self.result(of: query, evaluation, isolation: isolation, in: context, with: continuation)
      evaluation.end()
      if Task.isCancelled { return try result.get() }
      let consistency = evaluation.consistency
      if case .outdated = consistency {
        if count < Self.maximumEvaluations { continue }
        self.reportUnsettled(in: context)
      }
      evaluation.leaveCircles()
      evaluation.reportCycles()
      let hasFailed = if case .failure = result { true } else { false }
      // The source has made its attempts.
      if hasFailed, evaluation.hasFailedSource { context.vetoRetry(true) }
      let commit = evaluation.commit(hasFailed: hasFailed)
      context.addToOutcome(CommitStep(of: self.node, commit, consistency, in: self.queue.revision))
      if let refresh { self.cause.noteEnd(of: refresh) }
      return try result.get()
    }
  }

  /// Calls the body once.
  private func result<Query: QueryRequest>(
    of query: Query,
    _ evaluation: Evaluation,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Query.Value, Query.Failure>
  ) async -> Result<Query.Value, Query.Failure> {
    var context = context
    context.evaluation = evaluation
    // A yielded value must not mix what is before a change with what is after it.
    let consistent = OperationContinuation<Query.Value, Query.Failure> { result, yieldContext in
      if case .outdated = evaluation.consistency { return }
      var yieldContext = yieldContext
      // What the value was read from is noted at the end of the run, so it must go if that is cancelled.
      yieldContext?.committedValueKind = nil
      continuation.yield(with: result, using: yieldContext)
    }
    return await self.cause.perform {
      do throws(Query.Failure) {
        return .success(try await query.run(isolation: isolation, in: context, with: consistent))
      } catch {
        return .failure(error)
      }
    }
  }

  private func reportUnsettled(in context: OperationContext) {
    let path = context.runningOperationStore.map { ShownText.of($0.path) } ?? self.node.name
    OperationWarning(
      code: .unsettledDerivation,
      message: """
        The sources of the derived query at \(path) have changed during each of \(Self.maximumEvaluations) calls of its \
        body. The last result is used. A body must not change what it reads.
        """
    ).report()
  }
}

extension OperationWarning.Code {
  /// The sources of a derived query change each time that it reads them, so that its value never becomes consistent.
  public static let unsettledDerivation = OperationWarning.Code(description: "unsettledDerivation")
}
