/// Wraps each run of an operation, outside of all its modifiers.
///
/// For modifiers that need something for a whole run, which may consist of several attempts. A modifier adds a wrapper
/// in its setup; the store or runner that is being set up then removes it from the context.
@usableFromInline
package protocol OperationRunWrapper: Sendable {
  /// Performs a run by calling `body` once, with the context for the run.
  func run<Value, Failure: Error>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> Result<Value, Failure>
  ) async -> Result<Value, Failure>
}

extension OperationContext {
  /// Adds a wrapper unless the context contains one of the same type.
  package mutating func addRunWrapper<Wrapper: OperationRunWrapper>(_ wrapper: Wrapper) {
    if self[RunWrappersKey.self].contains(where: { $0 is Wrapper }) { return }
    self[RunWrappersKey.self].append(wrapper)
  }

  @inlinable
  var hasRunWrappers: Bool { self.isSet(RunWrappersKey.self) }

  @usableFromInline
  mutating func takeRunWrappers() -> [any OperationRunWrapper] {
    let wrappers = self[RunWrappersKey.self]
    self.unset(RunWrappersKey.self)
    return wrappers
  }

  @usableFromInline
  enum RunWrappersKey: Key {
    @usableFromInline static let defaultValue: [any OperationRunWrapper] = []
  }
}

extension [any OperationRunWrapper] {
  /// Runs `body` inside all wrappers, the last one outermost.
  func run<Value, Failure: Error>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> Result<Value, Failure>
  ) async -> Result<Value, Failure> {
    guard let outermost = self.last else { return await body(context) }
    return await outermost.run(isolation: isolation, in: context) {
      await Array(self.dropLast()).run(isolation: isolation, in: $0, body)
    }
  }
}
