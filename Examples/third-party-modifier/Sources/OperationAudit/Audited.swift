public import OperationCore

extension OperationRequest {
  /// Records each run of the operation in an audit trail: its principal, its beginning, its duration and its outcome.
  ///
  /// ```swift
  /// let trail = AuditTrail()
  /// let query = AccountQuery(id: 7).audited(in: trail).context { $0.auditPrincipal = "anna" }
  /// let store = client.store(for: query)  // A modified query is a query.
  /// try await store.fetch()
  /// print(trail.records)
  /// ```
  ///
  /// The operation reads the identifier of its record from ``OperationCore/OperationContext/auditID``, for instance to
  /// send it to a server.
  ///
  /// The place among other modifiers decides what one record is about. `.audited(in: trail).retry(limit: 3)` records
  /// each attempt, and `.retry(limit: 3).audited(in: trail)` records all attempts as one run. The same holds for
  /// `.deduplicated()`: inside of it the trail has one record for all callers that share a run, and outside of it one
  /// for each caller of an `OperationRunner`. The callers of a store that share a run are one caller.
  ///
  /// - Parameter trail: Receives the records. Any number of operations may share it.
  /// - Returns: The operation with the audit around it.
  public func audited(in trail: AuditTrail) -> ModifiedOperation<Self, Audited<Self>> {
    self.modifier(Audited(trail: trail))
  }
}

/// The modifier that `.audited(in:)` applies: records each run of an operation in an audit trail.
///
/// It changes neither values, errors nor yields, and so an operation stays of its kind.
// The operation is named once, as the parameter. The state of a run is local to `run`, as one modifier value runs many
// times at once; what runs share is in the trail, behind its lock.
public struct Audited<Operation: OperationRequest>: OperationModifier {
  let trail: AuditTrail

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let run = self.trail.begin(operation.operationName, in: context)
    var context = context
    context.auditScope = AuditScope(trail: self.trail, id: run.id)
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: context, with: continuation)
      self.trail.end(run, with: .succeeded, in: context)
      return value
    } catch {
      // A cancelled body may throw an error of its client in place of a `CancellationError`.
      let isCancelled = error is CancellationError || Task.isCancelled
      self.trail.end(run, with: isCancelled ? .cancelled : .failed("\(error)"), in: context)
      throw error
    }
  }
}
