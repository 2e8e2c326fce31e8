/// Stands around each run of an operation, outside of all its modifiers: for modifiers that keep something for a whole
/// run, however many attempts the modifiers around them make of it.
///
/// A modifier adds one in its setup. The store or the runner for which that was done takes it out of the context.
@usableFromInline
package protocol OperationRunWrapper: Sendable {
  /// Runs the operation once, by calling `body` with the context that the run gets.
  func run<Value, Failure: Error>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> Result<Value, Failure>
  ) async -> Result<Value, Failure>
}

extension OperationContext {
  /// Adds a wrapper, unless there is one of its type.
  package mutating func addRunWrapper<Wrapper: OperationRunWrapper>(_ wrapper: Wrapper) {
    if self[RunWrappersKey.self].contains(where: { $0 is Wrapper }) { return }
    self[RunWrappersKey.self].append(wrapper)
  }

  @inlinable
  var hasRunWrappers: Bool { self.isSet(RunWrappersKey.self) }

  mutating func takeRunWrappers() -> [any OperationRunWrapper] {
    let wrappers = self[RunWrappersKey.self]
    self.unset(RunWrappersKey.self)
    return wrappers
  }

  @usableFromInline
  enum RunWrappersKey: Key {
    @usableFromInline static let defaultValue: [any OperationRunWrapper] = []
  }

  /// Boxes an operation that has set up this context, with the wrappers that it has added around it.
  @inlinable
  mutating func box<Operation: StatefulOperationRequest>(_ operation: Operation) -> OperationBox<Operation.State> {
    let box = OperationBox(operation)
    return self.hasRunWrappers ? self.wrapped(box) : box
  }

  @usableFromInline
  mutating func wrapped<State: OperationState & Sendable>(_ box: OperationBox<State>) -> OperationBox<State> {
    let wrappers = self.takeRunWrappers()
    return OperationBox(box) { context, continuation in
      await wrappers.run(isolation: nil, in: context) { await box.run($0, continuation) }
    }
  }
}

extension [any OperationRunWrapper] {
  /// Runs `body` with all of them around it, the last of them outside.
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
