public import OperationCore

extension OperationRequest where Self: Sendable, Value: Sendable {
  /// Lets concurrent runs of the operation that do the same work share one run.
  ///
  /// The operation decides which runs do the same work: see `OperationRequest.isSameRun(in:as:)`. All callers that
  /// share a run receive its yields and its outcome. A caller with a higher priority raises the priority of the run.
  ///
  /// A caller that is cancelled leaves at once with a `CancellationError`. If `Failure` cannot represent that error,
  /// the caller waits for the end of the run. The run is cancelled when all its callers are.
  @inlinable
  public func deduplicated() -> ModifiedOperation<Self, Deduplication<Self>> {
    self.modifier(Deduplication { _, _ in true })
  }

  /// Lets concurrent runs of the operation share one run if `isSameRun` returns true for their contexts, too.
  ///
  /// The operation's own `isSameRun(in:as:)` has to hold as well.
  ///
  /// - Parameter isSameRun: Receives the contexts of the new run and of a run under way. Called on any thread.
  /// - Returns: The operation, whose concurrent runs share one run where both functions allow it.
  @inlinable
  public func deduplicated(
    by isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool
  ) -> ModifiedOperation<Self, Deduplication<Self>> {
    self.modifier(Deduplication(isSameRun))
  }
}

/// The modifier that `.deduplicated()` applies: concurrent runs that do the same work share one run.
///
/// In a store, the store decides who shares a run. Outside of stores, the modifier does, for all callers of the value
/// and its copies. Of two in one operation, the inner one decides.
// `Sendable` is required where the modifier is applied, and not of the operation here: the compiler would check it for the
// modifier and for the modified operation, so twice in each layer, and a chain of 18 would not compile within 40 s.
public struct Deduplication<Operation: OperationRequest & SendableMetatype>: OperationModifier
where Operation.Value: Sendable {
  @usableFromInline let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool
  @usableFromInline let registry = RunRegistry<Operation>()

  @inlinable
  init(_ isSameRun: @escaping @Sendable (OperationContext, OperationContext) -> Bool) {
    self.isSameRun = isSameRun
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".deduplicated()" }

  @inlinable
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.operationRunSharing = OperationRunSharing(registry: self.registry, isSameRun: self.isSameRun)
    operation.setup(context: &context)
  }

  // Inlined for the reason that `Modified.run` is.
  @inlinable
  @inline(__always)
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard let run = self.registry.enter(with: context) else {
      return try await self.runOutsideOfStores(isolation: isolation, in: context, using: operation, with: continuation)
    }
    defer { self.registry.leave(run) }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }

  @usableFromInline
  func runOutsideOfStores(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    if Operation.hasModifier(where: { $0 is any SharingModifier.Type }) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    return try await self.registry.value(of: operation, in: context, with: continuation, isolation: isolation) {
      operation.isSameRun(in: $0, as: $1) && self.isSameRun($0, $1)
    }
  }
}

/// A ``Deduplication`` of any operation.
private protocol SharingModifier {}

extension Deduplication: SharingModifier {}
