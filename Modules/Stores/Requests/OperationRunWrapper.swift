/// Wraps each run of an operation, outside of all its modifiers.
///
/// For modifiers that need something for a whole run, which may consist of several attempts. A modifier adds a wrapper
/// in its setup; the store or runner that is being set up then removes it from the context.
public protocol OperationRunWrapper: Sendable {
  /// Performs a run by calling `body` once, with the context for the run. `body` returns the error of the run, if any.
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> (any Error)?
  ) async
}

extension OperationContext {
  /// Adds a wrapper unless the context contains one of the same type.
  public mutating func addRunWrapper<Wrapper: OperationRunWrapper>(_ wrapper: Wrapper) {
    if self[RunWrappersKey.self].contains(where: { $0 is Wrapper }) { return }
    self[RunWrappersKey.self].append(wrapper)
  }

  var hasRunWrappers: Bool { self.isSet(RunWrappersKey.self) }

  @usableFromInline
  mutating func takeRunWrappers() -> [any OperationRunWrapper] {
    let wrappers = self[RunWrappersKey.self]
    self.unset(RunWrappersKey.self)
    return wrappers
  }

  enum RunWrappersKey: Key {
    static let defaultValue: [any OperationRunWrapper] = []
  }
}

extension [any OperationRunWrapper] {
  /// Runs `body` inside all wrappers, the last one outermost.
  ///
  /// - Parameters:
  ///   - isolation: The actor to run on.
  ///   - context: The context of the run.
  ///   - body: The run.
  ///   - error: Returns the error of an outcome.
  /// - Returns: The outcome of `body`.
  func outcome<Outcome>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    of body: (OperationContext) async -> Outcome,
    error: (Outcome) -> (any Error)?
  ) async -> Outcome {
    guard let outermost = self.last else { return await body(context) }
    var outcome: Outcome?
    await outermost.run(isolation: isolation, in: context) { context in
      let inner = await Array(self.dropLast()).outcome(isolation: isolation, in: context, of: body, error: error)
      outcome = inner
      return error(inner)
    }
    guard let outcome else { preconditionFailure("A run wrapper did not call its body.") }
    return outcome
  }

  /// Runs `body` inside all wrappers, as ``outcome(isolation:in:of:error:)`` does.
  package func result<Value, Failure: Error>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    of body: (OperationContext) async -> Result<Value, Failure>
  ) async -> Result<Value, Failure> {
    await self.outcome(isolation: isolation, in: context, of: body) { $0.failure }
  }
}
