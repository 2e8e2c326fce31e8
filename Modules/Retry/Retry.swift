internal import OperationBackoff
public import OperationCore

/// Runs an operation again when it fails; applied by ``OperationCore/OperationRequest/retry(limit:)``.
public struct Retry<Operation: OperationRequest>: OperationModifier {
  private typealias Outcome = Result<Operation.Value, Operation.Failure>

  @usableFromInline let id: RetryID
  private let limit: Int
  /// Whether a client applies the retry by default. What a user writes then bounds it.
  private let isDefault: Bool
  private let condition: (@Sendable (Operation.Failure, OperationContext) -> Bool)?
  @usableFromInline let asksAgain: (@Sendable (Operation.Value, OperationContext) -> Bool)?

  init(
    limit: Int,
    isDefault: Bool = false,
    condition: (@Sendable (Operation.Failure, OperationContext) -> Bool)? = nil,
    asksAgain: (@Sendable (Operation.Value, OperationContext) -> Bool)? = nil
  ) {
    self.id = .next()
    self.limit = limit.validRetryLimit
    self.isDefault = isDefault
    self.condition = condition
    self.asksAgain = asksAgain
  }

  /// Creates a retry that makes the attempts of another one in a place inside of that one.
  init(_ placed: PlacedRetry) {
    self.id = placed.id
    self.limit = placed.limit
    self.isDefault = false
    self.condition = nil
    self.asksAgain = nil
  }

  public var sourceText: String { ".retry(limit: \(self.limit))" }

  /// Writes the limit, then sets up the operation, which may overwrite it.
  public func setup(context: inout OperationContext, using operation: Operation) {
    let limit = self.limit(in: context)
    context.retryConfiguration = RetryConfiguration(limit: limit, owner: self.id)
    if self.isDefault { context.forgetOfferedPlaces() }
    operation.setup(context: &context)
    if context.retryConfiguration.owner != self.id {
      context.noteOuterRetry(self.id)
    } else if self.isDefault, let place = context.offeredPlace {
      let placed = PlacedRetry(limit: limit)
      context.placeAttempts(ofRetry: self.id.number, in: place, placed)
      context.retryConfiguration.owner = placed.id
    }
    if context.operationMaxRetries > 0 { context.operationMakesAttempts = true }
  }

  /// The limit that applies: to a client's default retry, one that a user has set for the operation's path or client.
  private func limit(in context: OperationContext) -> Int {
    self.isDefault && context.retryConfiguration.isSetByHand ? context.retryConfiguration.limit : self.limit
  }

  /// Runs the operation until it succeeds or no retries are left.
  // Inlined for the same reason as `Modified.run`.
  @inlinable
  @inline(__always)
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let context = self.isFresh(context) ? context : self.claiming(context)
    if self.asksAgain != nil {
      return try await self.runWithAnswers(isolation: isolation, in: context, using: operation, with: continuation)
    }
    // The first attempt does without an `Outcome`, because unspecialized code would look its type up.
    do throws(Operation.Failure) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      return try await self.retry(after: error, isolation: isolation, in: context, using: operation, with: continuation)
    }
  }
}

// MARK: - Attempts

extension Retry {
  /// Runs the operation until it succeeds, no retries are left, or none could begin before an end.
  func run(
    until end: Duration?,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let context = self.isFresh(context) ? context : self.claiming(context)
    do throws(Operation.Failure) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      return try await self.retry(
        after: .failure(error),
        until: end,
        isolation: isolation,
        in: context,
        using: operation,
        with: continuation
      )
    }
  }

  /// Runs the operation until it returns a value that does not ask for another attempt, or no retries are left.
  @usableFromInline
  func runWithAnswers(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let outcome: Outcome
    do throws(Operation.Failure) {
      let value = try await operation.run(isolation: isolation, in: context, with: continuation)
      guard let asksAgain = self.asksAgain, asksAgain(value, context) else { return value }
      outcome = .success(value)
    } catch {
      outcome = .failure(error)
    }
    return try await self.retry(
      after: outcome,
      until: nil,
      isolation: isolation,
      in: context,
      using: operation,
      with: continuation
    )
  }

  /// Runs the operation again after its first attempt has failed.
  @usableFromInline
  func retry(
    after error: Operation.Failure,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let outcome = Outcome.failure(error)
    return try await self.retry(
      after: outcome,
      until: nil,
      isolation: isolation,
      in: context,
      using: operation,
      with: continuation
    )
  }

  private func retry(
    after outcome: Outcome,
    until end: Duration?,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard !self.isOuter(in: context) else { return try outcome.get() }
    let limit = context.operationMaxRetries
    var (context, outcome) = (context, outcome)
    var index = 0
    var hasBegun = !outcome.isLocalRejection
    while index < limit, !Task.isCancelled {
      guard let delay = self.delay(before: index + 1, after: outcome, in: context),
        self.withdrawRetry(after: delay, until: end, in: context, of: operation),
        await self.wait(delay, after: outcome.error, in: context)
      else { break }
      context.operationRetryIndex = index
      context.beginNextAttempt(after: outcome.error)
      do throws(Operation.Failure) {
        let value = try await operation.run(isolation: isolation, in: context, with: continuation)
        guard let asksAgain = self.asksAgain, asksAgain(value, context) else { return value }
        outcome = .success(value)
      } catch {
        outcome = .failure(error)
      }
      index += 1
      if !hasBegun { hasBegun = !outcome.isLocalRejection }
    }
    return try (hasBegun ? outcome.afterAttempt : outcome).get()
  }

  /// The delay before a retry; nil if the outcome is not retried.
  private func delay(before retry: Int, after outcome: Outcome, in context: OperationContext) -> OperationDuration? {
    guard case .failure(let error) = outcome else { return context.operationBackoffFunction(retry) }
    if context.isRetryVetoed { return nil }
    let classification = (error as? any RetryClassifying)?.retryClassification
    let isRetried = self.condition?(error, context) ?? !(error is CancellationError || classification == .never)
    guard isRetried else { return nil }
    guard let hint = classification?.retryAfter ?? (error as? any RetryHinting)?.retryAfter else {
      return context.operationBackoffFunction(retry)
    }
    let cap = context.operationRetryAfterCap
    let delay = min(max(hint, .zero), cap)
    // A breaker or limit of this process lets its callers in one after the other.
    if error.isLocalRejection { return delay }
    return context.operationRetryAfterJitter.delay(from: delay, cap: cap, remaining: context.operationTimeRemaining)
  }

  /// Asks the deadline and the budget of the run for a retry after a delay, and withdraws it from the budget.
  private func withdrawRetry(
    after delay: OperationDuration,
    until end: Duration?,
    in context: OperationContext,
    of operation: Operation
  ) -> Bool {
    let remaining = [context.operationTimeRemaining, end.map { $0 - context.elapsed }].compactMap(\.self).min()
    if let remaining, max(delay, .zero) >= remaining {
      context.send(
        OperationNotice(.retryPastDeadline, of: operation, attributes: ["retry.delay": .duration(delay)])
      )
      return false
    }
    if let budget = context.operationRetryBudget, !budget.withdraw(in: context) {
      context.send(OperationNotice(.retryOverBudget, of: operation))
      return false
    }
    return true
  }

  /// Waits before a retry, and for the condition of the context. Returns false if there is no retry: the delay has
  /// failed, the task is cancelled, or the deadline has passed meanwhile.
  private func wait(
    _ delay: OperationDuration,
    after error: Operation.Failure?,
    in context: OperationContext
  ) async -> Bool {
    context.attemptFailed(with: error, nextAfter: delay)
    do {
      try await context.operationDelayer.delay(for: delay)
    } catch {
      return false
    }
    guard await context.pauseBeforeNextAttempt() else { return false }
    return context.operationTimeRemaining != .zero
  }
}

extension Result {
  fileprivate var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }

  fileprivate var isLocalRejection: Bool { self.error?.isLocalRejection ?? false }

  /// The outcome of a run whose operation has begun in an earlier attempt.
  fileprivate var afterAttempt: Self {
    guard let rejection = self.error as? any LocalRejection else { return self }
    return (rejection.afterAttempt() as? Failure).map { .failure($0) } ?? self
  }
}

extension RetryClassification {
  /// The delay that the classification asks for.
  fileprivate var retryAfter: OperationDuration? {
    if case .retryAfter(let delay) = self { delay } else { nil }
  }
}

// MARK: - Owner of the configuration

/// A retry of any operation.
private protocol AnyRetry {}

extension Retry: AnyRetry {}

extension Retry {
  /// Whether there is another retry inside, which applies instead, or the attempts are made in a place inside.
  private func isOuter(in context: OperationContext) -> Bool {
    if self.isDefault, context.hasPlacedAttempts(ofRetry: self.id.number) { return true }
    // The type is asked as well, because a context that was set up for another operation, or not at all, has no record
    // of this operation's retries.
    return context.isOuterRetry(self.id) || Operation.hasModifier { $0 is any AnyRetry.Type }
  }

  /// Whether the first attempt by this retry can use the context unchanged.
  @usableFromInline
  func isFresh(_ context: OperationContext) -> Bool {
    context.retryConfiguration.isFresh(for: self.id) && context.operationRetryBudget == nil
  }

  /// The context for the first attempt by this retry. Deposits into the budget of the run.
  ///
  /// The given context may have been set up for another operation, whose body runs this one, or not at all. Its limit
  /// is then used only if it was set explicitly.
  @usableFromInline
  func claiming(_ context: OperationContext) -> OperationContext {
    guard !self.isOuter(in: context) else { return context }
    let configuration = context.retryConfiguration
    let isOurs = configuration.owner == self.id || configuration.isSetByHand
    var context = context
    // The context belongs to another operation, whose body runs this one. Its attempts are not counted here.
    if let owner = configuration.owner, owner != self.id { context.forgetAttempts() }
    context.retryConfiguration = RetryConfiguration(limit: isOurs ? configuration.limit : self.limit, owner: self.id)
    context.operationRetryBudget?.deposit(for: &context)
    return context
  }
}
