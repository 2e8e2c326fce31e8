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
  /// What can be changed while the retry is in use; nil for fixed numbers.
  private let settings: RetrySettings?

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
    self.settings = nil
  }

  init(_ settings: RetrySettings, condition: (@Sendable (Operation.Failure, OperationContext) -> Bool)? = nil) {
    self.id = .next()
    self.limit = settings.limit
    self.isDefault = false
    self.condition = condition
    self.asksAgain = nil
    self.settings = settings
  }

  /// Creates a retry that makes the attempts of another one in a place inside of that one.
  init(_ placed: PlacedRetry) {
    self.id = placed.id
    self.limit = placed.limit
    self.isDefault = false
    self.condition = nil
    self.asksAgain = nil
    self.settings = nil
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String {
    self.settings.map { ".retry(using: \($0.displayName))" } ?? ".retry(limit: \(self.limit))"
  }

  /// Writes the limit, then sets up the operation, which may overwrite it.
  public func setup(context: inout OperationContext, using operation: Operation) {
    let limit = self.limit(in: context)
    context.retryConfiguration = RetryConfiguration(limit: limit, owner: self.id, settings: self.settings)
    if self.isDefault { context.forgetOfferedPlaces() }
    operation.setup(context: &context)
    if context.retryConfiguration.owner != self.id {
      context.noteOuterRetry(self.id)
    } else if self.isDefault, let placed = context.placeAttempts(ofRetry: self.id.number, PlacedRetry(limit: limit)) {
      context.retryConfiguration.owner = placed.id
    }
    // The limit of settings may become larger than 0 at any time.
    if context.operationMaxRetries > 0 || self.settings != nil { context.operationMakesAttempts = true }
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
    var (context, outcome) = (context, outcome)
    let funding = self.funding(of: context)
    var index = 0
    var hasBegun = !outcome.isLocalRejection
    var isReported = false
    _ = context.restartAttemptsAfterCommit()
    if !hasBegun { funding?.takeBackDeposit(in: context) }
    while index < context.operationMaxRetries, !Task.isCancelled {
      guard let delay = self.delay(before: index + 1, after: outcome, in: context),
        self.isInTime(after: delay, until: end, in: context, of: operation)
      else { break }
      if !isReported { context.attemptFailed(with: outcome.error, nextAfter: delay) }
      isReported = true
      guard await self.wait(delay, in: context) else { break }
      let longest = min(delay, self.timeRemaining(until: end, in: context) ?? delay)
      guard let payment = self.payment(from: funding, !hasBegun, within: longest, in: context, of: operation) else {
        // This retry is left out. The next one comes after its own delay.
        index += 1
        continue
      }
      if payment.wait > .zero {
        guard await self.wait(payment.wait, in: context) else {
          payment.cancel(in: context)
          break
        }
      }
      payment.begin(in: context)
      self.settings?.noteRetry()
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
      isReported = false
      // What has made progress is not at its end, such as a stream whose connection is lost from time to time.
      if outcome.error != nil, context.restartAttemptsAfterCommit() { index = 0 }
      if outcome.isLocalRejection { payment.takeBack(in: context) } else { hasBegun = true }
    }
    return try (hasBegun ? outcome.afterAttempt : outcome).get()
  }

  /// The delay before a retry; nil if the outcome is not retried.
  private func delay(before retry: Int, after outcome: Outcome, in context: OperationContext) -> OperationDuration? {
    let settings = self.settings?.values
    let backoff = settings?.backoff ?? context.operationBackoffFunction
    guard case .failure(let error) = outcome else { return backoff(retry) }
    if context.isRetryVetoed { return nil }
    let classification = (error as? any RetryClassifying)?.retryClassification
    let isRetried = self.condition?(error, context) ?? !(error is CancellationError || classification == .never)
    guard isRetried else { return nil }
    let pushback = (error as? any RetryPushingBack)?.retryPushback
    if case .stop? = pushback { return nil }
    guard let hint = pushback?.delay ?? classification?.retryAfter ?? (error as? any RetryHinting)?.retryAfter else {
      return backoff(retry)
    }
    let cap = settings?.retryAfterCap ?? context.operationRetryAfterCap
    let jitter = settings?.retryAfterJitter ?? context.operationRetryAfterJitter
    let delay = min(max(hint, .zero), cap)
    if error.isLocalRejection, !jitter.spreadsLocalHints { return delay }
    return jitter.delay(from: delay, cap: cap, remaining: context.operationTimeRemaining)
  }

  /// Whether an attempt after a delay would begin before the deadline of the run. Sends a notice if not.
  private func isInTime(
    after delay: OperationDuration,
    until end: Duration?,
    in context: OperationContext,
    of operation: Operation
  ) -> Bool {
    guard let remaining = self.timeRemaining(until: end, in: context), max(delay, .zero) >= remaining
    else { return true }
    context.send(
      OperationNotice(.retryPastDeadline, of: operation, attributes: ["retry.delay": .duration(delay)])
    )
    return false
  }

  /// The time until the deadline of the run, or until an end; nil without either.
  private func timeRemaining(until end: Duration?, in context: OperationContext) -> Duration? {
    [context.operationTimeRemaining, end.map { $0 - context.elapsed }].compactMap(\.self).min()
  }

  /// Pays for a retry out of what the budget of the run has, or will have within a time; nil, with a notice, if the
  /// budget does not allow the retry.
  ///
  /// The first attempt that reaches the service, after others that were all rejected on this side, costs nothing.
  private func payment(
    from funding: RetryFunding?,
    _ isFirstAttempt: Bool,
    within longest: Duration,
    in context: OperationContext,
    of operation: Operation
  ) -> RetryPayment? {
    guard let funding else { return RetryPayment(funding: nil, withdrawal: nil) }
    if isFirstAttempt { return RetryPayment(funding: funding, withdrawal: nil) }
    if let withdrawal = funding.budget.withdrawal(within: longest, in: context) {
      return RetryPayment(funding: funding, withdrawal: withdrawal)
    }
    self.settings?.noteRefusal()
    context.send(OperationNotice(.retryOverBudget, of: operation, attributes: funding.budget.nameAttributes))
    return nil
  }

  /// Waits before a retry, and for the condition of the context. Returns false if there is no retry: the delay has
  /// failed, the task is cancelled, or the deadline has passed meanwhile.
  private func wait(_ delay: OperationDuration, in context: OperationContext) async -> Bool {
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

  /// Whether the first attempt by this retry can use the context unchanged, and no budget is to be told of it.
  @usableFromInline
  func isFresh(_ context: OperationContext) -> Bool {
    context.retryConfiguration.isFresh(for: self.id) && self.budget(of: context) == nil
  }

  /// The context for the first attempt by this retry. Deposits into the budget of the run.
  ///
  /// The given context may have been set up for another operation, whose body runs this one, or not at all. Its limit
  /// is then used only if it was set explicitly.
  @usableFromInline
  func claiming(_ context: OperationContext) -> OperationContext {
    let configuration = context.retryConfiguration
    if configuration.isFresh(for: self.id), !context.operationDepositsIntoBudgets {
      // A copy of the context, which nothing inside of this retry needs, would be two allocations.
      if let budget = self.budget(of: context), !context.isRunMarked(budget) { budget.addDeposit(in: context) }
      return context
    }
    guard !self.isOuter(in: context) else { return context }
    let isOurs = configuration.owner == self.id || configuration.isSetByHand
    var context = context
    // The context belongs to another operation, whose body runs this one. Its attempts are not counted here.
    if let owner = configuration.owner, owner != self.id { context.forgetAttempts() }
    var own = RetryConfiguration(limit: isOurs ? configuration.limit : self.limit, owner: self.id)
    own.settings = configuration.isSetByHand ? nil : self.settings
    own.hasDeposited = self.budget(of: context)?.depositOnce(for: &context) ?? false
    context.retryConfiguration = own
    return context
  }

  /// The budget that pays for the retries of a run; nil for none.
  func budget(of context: OperationContext) -> RetryBudget? {
    self.settings?.values.budget ?? context.operationRetryBudget
  }

  /// The budget of a run that has begun with this context, and who has deposited; nil without a budget.
  private func funding(of context: OperationContext) -> RetryFunding? {
    guard let budget = self.budget(of: context) else { return nil }
    let configuration = context.retryConfiguration
    let isOurs =
      configuration.hasDeposited || configuration.isFresh(for: self.id) && !context.isRunMarked(budget)
    return RetryFunding(budget: budget, isOurs: isOurs)
  }
}
