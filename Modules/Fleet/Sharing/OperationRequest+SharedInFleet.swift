public import OperationCore

extension StatefulOperationRequest where Value: Codable & Sendable {
  /// Shares runs and values with the other nodes of the fleet that the client has joined.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).stale(after: .seconds(60)).sharedInFleet(as: "post", timeToLive: .seconds(60))
  /// ```
  ///
  /// A run first asks the backend. A value that is fresh there becomes the value, with its own date. Otherwise one node
  /// runs the operation, and the runs of others wait for its value, for the end of its lease if it has died, or until
  /// they are cancelled. A value is fresh in the fleet for its time to live by the clock of the backend, until a prefix
  /// of its path, or one of its tags, is invalidated on any node. To ask for a new one, invalidate the path.
  ///
  /// With `.servesStale`, the fleet keeps a value for as long as it may be served, if that is longer than the time to live. A
  /// run that finds such a value shows it, stale, until it has its own: so a node that has just started serves it when its
  /// run fails or takes long.
  ///
  /// A value that is set, as by `store.currentValue = value`, is put into the fleet in place of what is there.
  ///
  /// While the backend does not answer, each node runs for itself: see ``FleetSettings/lookupTimeout``. A client that has
  /// not joined a fleet runs the operation as without this modifier.
  ///
  /// The values of a `.derived()` query are not shared, which is reported: no other node could know when its sources change.
  /// Its readers hear of invalidations as those of a shared one do. Share the queries that it reads.
  ///
  /// A restored value of `.persisted(as:)` is shown, and is stale: others may have invalidated it meanwhile. Apply the
  /// modifier outside of `.retry(limit:)`, so that one lease covers all attempts.
  ///
  /// - Parameters:
  ///   - name: The name of the value. It and the path of the operation identify the value in the fleet. Each element of
  ///     the path needs a key, as in `.persisted(as:)`. A path without one is reported once, and runs are the node's own.
  ///   - version: The version of the stored form. Programs with different versions do not see each other's values.
  ///   - timeToLive: How long a value is fresh in the fleet, by the clock of the backend. One that is not positive is
  ///     reported, and counts as a millisecond.
  ///   - isPushed: Whether each new value is shown at once by the stores of other nodes that have subscribers.
  /// - Returns: The operation, which shares runs and values.
  public func sharedInFleet(
    as name: String,
    version: Int = 1,
    timeToLive: Duration = .seconds(60),
    isPushed: Bool = false
  ) -> ModifiedOperation<Self, SharedInFleet<Self>> {
    let settings = FleetSharing(
      name: name,
      version: version,
      timeToLive: timeToLive.reportedUnlessPositive(in: "sharedInFleet(as:timeToLive:)"),
      isPushed: isPushed
    )
    return self.modifier(SharedInFleet(settings: settings))
  }
}

/// How the values of an operation are shared.
struct FleetSharing: Sendable {
  let name: String
  let version: Int
  let timeToLive: Duration
  let isPushed: Bool

  /// The key of a value.
  func key(at path: OperationPath) -> LevelKey { LevelKey(path: path, name: self.name, version: self.version) }
}

/// Shares runs and values in a fleet; applied by `.sharedInFleet(as:version:timeToLive:isPushed:)`.
public struct SharedInFleet<Operation: StatefulOperationRequest>: OperationModifier
where Operation.Value: Codable & Sendable {
  let settings: FleetSharing

  public var sourceText: String { ".sharedInFleet(as: \"\(self.settings.name)\")" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    context.callInterceptors.append(FleetReads())
    operation.setup(context: &context)
    context.addEntriesToOutcomes()
    context.invalidatesRestoredValues = true
    // Each store has its own, because a store calls the setup once.
    let record = FleetRecord(self.settings, isDerived: context.hasSources)
    context.fleetRecord = record
    context.operationControllers.append(FleetStoreController<Operation.State>(record: record))
    context.operationExplainers.append(record)
    context.operationObservers.append(FleetSetValues<Operation.Value>(self.settings, record))
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard let record = context.fleetRecord, let node = context.operationClient?.fleet,
      node.key(of: operation.path, self.settings) != nil
    else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    let key = self.settings.key(at: operation.path)
    if record.isDerived {
      node.reportDerived(key)
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    let run = FleetRun<Operation.Value>(on: node, key, record, in: context)
    switch await run.begin(showing: { continuation.commit($0, as: .partial, using: $1) }) {
    case .value(let value, _): return value
    case .run(let right):
      do throws(Operation.Failure) {
        let value = try await operation.run(isolation: isolation, in: context, with: continuation)
        await run.end(with: value, under: right)
        return value
      } catch {
        run.giveUp(right)
        throw error
      }
    case .cancelled:
      if let error = CancellationError() as? Operation.Failure { throw error }
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
  }
}
