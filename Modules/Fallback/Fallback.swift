public import OperationCore

/// Replaces the error of an operation with a value; applied by `.fallback(_:)`.
public struct Fallback<Operation: OperationRequest>: OperationModifier {
  @usableFromInline
  typealias Continuation = OperationContinuation<Operation.Value, Operation.Failure>

  /// Runs the operation to fall back to.
  @usableFromInline
  typealias OperationSubstitute =
    @Sendable ((any Actor)?, OperationContext, Continuation) async throws(Operation.Failure) -> Operation.Value

  /// The source of the value that replaces the error.
  @usableFromInline
  enum Substitute: Sendable {
    case value(@Sendable () -> Operation.Value)
    case closure(@Sendable (Operation.Failure, OperationContext) async throws(Operation.Failure) -> Operation.Value)
    case operation(OperationSubstitute)
  }

  @usableFromInline let id = OutcomeModifierIdentifier()
  @usableFromInline let substitute: Substitute
  private let use: FallbackUse

  @usableFromInline
  init(substitute: Substitute, use: FallbackUse) {
    self.substitute = substitute
    self.use = use
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".fallback(_:)" }

  /// Offers a place for the retry of the client, whose last error the fallback replaces.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.addEntriesToOutcomes()
    context.offersPlaceForAttempts(self.id)
    let outerDeadlines = context.plannedDeadlineCount
    operation.setup(context: &context)
    context.noteFallback(self.id, aroundDeadlinesAfter: outerDeadlines)
  }

  /// Runs the operation, and falls back if it fails.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    Self.begin(context)
    do throws(Operation.Failure) {
      return try await operation.runWithAttempts(of: self.id, isolation: isolation, in: context, with: continuation)
    } catch {
      return try await self.fallBack(from: error, isolation, context, operation, continuation)
    }
  }
}

extension Fallback {
  /// Removes the mark of an earlier attempt that has fallen back.
  @inlinable
  static func begin(_ context: OperationContext) {
    guard context.canAddToOutcome else { return }
    context.removeFromOutcome(IsFallbackKey.self, withValueOrigin: true)
    context.outcomeStamp = ValueStamp(.final)
  }

  /// Says what the value is, for explanations of the store.
  private static func noteFallback(from error: Operation.Failure, in context: OperationContext) {
    context.noteValueOrigin { "It is a fallback, because the run failed: \(ShownText.of(error))." }
  }

  // Not inlined: errors are rare.
  @usableFromInline
  func fallBack(
    from error: Operation.Failure,
    _ isolation: isolated (any Actor)?,
    _ context: OperationContext,
    _ operation: Operation,
    _ continuation: Continuation
  ) async throws(Operation.Failure) -> Operation.Value {
    if error.endsCancelledRun { throw error }
    context.send(
      OperationNotice(
        .fellBack,
        of: operation,
        // Converted, because `type(of:)` would return `any Error` where that is the generic type.
        attributes: ["fallback.error": .string(ShownText.typeName(of: error))]
      )
    )
    let value = try await self.value(isolation, error, context.leavingDeadlines(inside: self.id), continuation)
    context.addToOutcome(true, for: IsFallbackKey.self)
    Self.noteFallback(from: error, in: context)
    if self.use != .asValue {
      context.outcomeStamp.kind = .fallback
      context.outcomeStamp.freshness = self.use.freshness
    }
    return value
  }

  private func value(
    _ isolation: isolated (any Actor)?,
    _ error: Operation.Failure,
    _ context: OperationContext,
    _ continuation: Continuation
  ) async throws(Operation.Failure) -> Operation.Value {
    switch self.substitute {
    case .value(let value): return value()
    case .closure(let closure): return try await closure(error, context)
    case .operation(let run):
      let marked = Continuation { result, context in
        var context = context ?? OperationContext()
        context.isFallback = true
        continuation.yield(with: result, using: context)
      }
      return try await run(isolation, context, marked)
    }
  }
}

extension OperationNotice.Name {
  /// A run has failed and falls back. The attribute `fallback.error` is the type of the error.
  public static let fellBack = Self("fallback")
}
