/// Runs an operation without a store, so that no state is recorded.
///
/// ```swift
/// let runner = OperationRunner(operation: upload.retry(limit: 3))
/// try await runner.run()
/// ```
public struct OperationRunner<Operation: OperationRequest> {
  /// The operation.
  public let operation: Operation

  /// The context of the runs, after the operation has set it up.
  public var context: OperationContext

  @usableFromInline let wrappers: [any OperationRunWrapper]

  /// Creates a runner whose context is set up by the operation.
  @inlinable
  public init(operation: Operation, initialContext: OperationContext = OperationContext()) {
    var context = initialContext
    context.enterRunner()
    operation.setup(context: &context)
    self.wrappers = context.takeRunWrappers()
    self.operation = operation
    self.context = context
  }

  /// Runs the operation on the caller's actor.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on; the caller's by default.
  ///   - context: Entries for this run, which take precedence over ``context``.
  ///   - continuation: Receives the results that the operation yields.
  /// - Returns: The value that the operation returns.
  /// - Throws: The error of the operation.
  @discardableResult
  @inlinable
  public func run(
    isolation: isolated (any Actor)? = #isolation,
    in context: OperationContext? = nil,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure> = .init { _, _ in }
  ) async throws(Operation.Failure) -> Operation.Value {
    var context = self.context.overlaid(with: context)
    context.operationRunningTaskIdentifier = .next()
    let hasReturned = AtomicFlag(false)
    let guarded = OperationContinuation<Operation.Value, Operation.Failure> { result, context in
      guard !hasReturned.isOn else {
        return Self.reportLateYield()
      }
      continuation.yield(with: result, using: context)
    }
    defer { _ = hasReturned.set(true) }
    if self.wrappers.isEmpty {
      return try await self.operation.run(isolation: isolation, in: context, with: guarded)
    }
    return try await self.runInWrappers(isolation: isolation, in: context, with: guarded)
  }

  // The functions below are rarely called, so they are not inlined.

  @usableFromInline
  static func reportLateYield() {
    OperationWarning.lateYield("A run of \(Operation.self) yielded a result after it had returned").report()
  }

  @usableFromInline
  func runInWrappers(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await self.wrappers.result(isolation: isolation, in: context) { context in
      await self.outcome(isolation: isolation, in: context, with: continuation)
    }.get()
  }

  private func outcome(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async -> Result<Operation.Value, Operation.Failure> {
    do throws(Operation.Failure) {
      return .success(try await self.operation.run(isolation: isolation, in: context, with: continuation))
    } catch {
      return .failure(error)
    }
  }
}

extension OperationContext {
  /// Removes the entries of earlier runs that used the context.
  @usableFromInline
  mutating func enterRunner() {
    self.forgetAttempts()
    self.forgetSetUp()
  }
}

extension OperationRunner: Sendable where Operation: Sendable {}
