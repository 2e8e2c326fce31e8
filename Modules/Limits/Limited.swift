public import OperationCore

extension OperationRequest where Failure == any Error {
  /// Begins a run of the operation only when a limit admits it.
  ///
  /// Runs that the limit does not admit at once wait in the order in which they came, whatever their priorities. A run
  /// is rejected with ``OperationRejected`` if it cannot begin within `maximumWait` and before the
  /// ``/OperationCore/OperationContext/operationDeadline`` of its context. A run that is cancelled while it waits ends
  /// at once with a `CancellationError`.
  ///
  /// Write a retry outside of the limit, so that each attempt needs a permit and a run that waits for its next attempt
  /// holds none. The permit of a run that a limit or a breaker inside of this one rejects is given back unused. A run that a
  /// timeout inside of the limit has ended keeps its permit until its body has ended, too, if the limit counts what is under
  /// way: see ``OperationLimit/countsWork``. A hedge inside begins a run beside the first only with a permit of its own.
  ///
  /// - Parameters:
  ///   - limit: The limit, which all operations that use the same resource share.
  ///   - maximumWait: The longest time to wait, zero to reject at once; nil to wait for as long as it takes.
  /// - Returns: The operation, each run of which takes a permit of the limit.
  @inlinable
  public func limited<Limit: OperationLimit>(
    by limit: Limit,
    maximumWait: OperationDuration? = nil
  ) -> ModifiedOperation<Self, Limited<Self, Limit>> {
    self.modifier(Limited(limit, maximumWait: maximumWait) { $0 })
  }
}

extension OperationRequest {
  /// Begins a run of the operation only when a limit admits it.
  ///
  /// Like ``limited(by:maximumWait:)``, for operations whose `Failure` cannot be ``OperationRejected``.
  ///
  /// - Parameters:
  ///   - limit: The limit, which all operations that use the same resource share.
  ///   - maximumWait: The longest time to wait, zero to reject at once; nil to wait for as long as it takes.
  ///   - failure: Returns the error of a rejected run, and of one that is cancelled while it waits if `Failure` cannot
  ///     be a `CancellationError`.
  /// - Returns: The operation, each run of which takes a permit of the limit.
  @inlinable
  public func limited<Limit: OperationLimit>(
    by limit: Limit,
    maximumWait: OperationDuration? = nil,
    else failure: @escaping @Sendable (OperationRejected) -> Failure
  ) -> ModifiedOperation<Self, Limited<Self, Limit>> {
    self.modifier(Limited(limit, maximumWait: maximumWait, else: failure))
  }
}

/// The modifier that `.limited(by:maximumWait:)` applies: a limit admits the runs of an operation.
public struct Limited<Operation: OperationRequest, Limit: OperationLimit>: OperationModifier {
  @usableFromInline let limit: Limit
  @usableFromInline let maximumWait: OperationDuration?
  @usableFromInline let failure: @Sendable (OperationRejected) -> Operation.Failure

  @inlinable
  init(
    _ limit: Limit,
    maximumWait: OperationDuration?,
    else failure: @escaping @Sendable (OperationRejected) -> Operation.Failure
  ) {
    self.limit = limit
    self.maximumWait = maximumWait
    self.failure = failure
  }

  public var sourceText: String { ".limited(by: \(Limit.self))" }

  /// Runs the operation when the limit admits the run.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard let permit = self.limit.takePermit(in: context) else {
      return try await self.runLater(isolation: isolation, in: context, using: operation, with: continuation)
    }
    if context.operationBeginsFurtherRuns {
      return try await self.runHolding(permit, isolation: isolation, in: context, using: operation, with: continuation)
    }
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: context, with: continuation)
      self.giveBack(permit, after: .succeeded, in: context)
      return value
    } catch {
      self.giveBack(permit, after: Self.use(endingWith: error), in: context)
      throw error
    }
  }
}

extension Limited {
  /// Runs the operation. A hedge inside begins a run beside the first only with a permit of its own.
  // Not inlined: a run that begins at once has no hedge inside, as a rule, and copies no context.
  @inline(never)
  @usableFromInline
  func runHolding(
    _ permit: Limit.Permit,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let limit = self.limit
    var inner = context
    if context.operationBeginsFurtherRuns {
      inner.admitFurtherRuns {
        guard let permit = limit.takePermit(in: context) else { return nil }
        return FurtherRun { error in
          limit.returnPermit(permit, after: error.map { Self.use(endingWith: $0) } ?? .succeeded, in: context)
        }
      }
    }
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: inner, with: continuation)
      self.giveBack(permit, after: .succeeded, in: context)
      return value
    } catch {
      self.giveBack(permit, after: Self.use(endingWith: error), in: context)
      throw error
    }
  }

  /// Returns the permit, or keeps it until the work that a timeout inside has left behind has ended.
  @inlinable
  func giveBack(_ permit: Limit.Permit, after use: OperationPermitUse, in context: OperationContext) {
    if Limit.countsWork, LeftWork.exists { return self.giveBackAfterWork(permit, after: use, in: context) }
    self.limit.returnPermit(permit, after: use, in: context)
  }

  // Not inlined: work is rarely left behind.
  @inline(never)
  @usableFromInline
  func giveBackAfterWork(_ permit: Limit.Permit, after use: OperationPermitUse, in context: OperationContext) {
    let limit = self.limit
    context.afterLeftWork(claimedBy: ObjectIdentifier(limit as AnyObject)) {
      limit.returnPermit(permit, after: use, in: context)
    }
  }

  // Not inlined: errors are rare.
  @inline(never)
  @usableFromInline
  static func use(endingWith error: any Error) -> OperationPermitUse {
    if error.endsCancelledRun { return .cancelled }
    // The operation has not begun, so it has not used what the permit is for.
    return error.isLocalRejection ? .unused : .failed(error)
  }
}

// MARK: - Waiting

extension Limited {
  // Not inlined, so that the frame of a run that begins at once has no room for the wait.
  @inline(never)
  @usableFromInline
  func runLater(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let permit = try await self.permit(in: context, using: operation)
    return try await self.runHolding(permit, isolation: isolation, in: context, using: operation, with: continuation)
  }

  private nonisolated(nonsending) func permit(
    in context: OperationContext,
    using operation: Operation
  ) async throws(Operation.Failure) -> Limit.Permit {
    let longest = [self.maximumWait, context.operationTimeRemaining].compactMap(\.self).min()
    let limit = self.limit
    do {
      let permit = try await context.awaiting("a permit of \(limit.title)") {
        try await limit.waitForPermit(in: context, maximumWait: longest)
      }
      guard Task.isCancelled else { return permit }
      // The task was cancelled while it received the permit.
      self.limit.returnPermit(permit, after: .unused, in: context)
      throw CancellationError()
    } catch let error as OperationRejected {
      context.send(OperationNotice(.limitRejected, of: operation, attributes: error.attributes))
      throw self.failure(error)
    } catch {
      throw error as? Operation.Failure ?? self.failure(OperationRejected(retryAfter: nil))
    }
  }
}

extension OperationNotice.Name {
  /// A limit has rejected a run. The attribute `limit.retry_after` is the time until it would admit the run, and
  /// `limit.name` the name of the limit.
  public static let limitRejected = Self("limit.rejected")
}

extension OperationRejected {
  fileprivate var attributes: [String: OperationNotice.Value] {
    var attributes: [String: OperationNotice.Value] = [:]
    if let retryAfter { attributes["limit.retry_after"] = .duration(retryAfter) }
    if let name { attributes["limit.name"] = .string(name) }
    return attributes
  }
}
