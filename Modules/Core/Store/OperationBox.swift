/// An operation with its type erased, except for the type of its state.
///
/// The operation is run by a closure, not by an overridden method: the closure is created where the type of the
/// operation is known, so it calls the operation without dynamic dispatch.
@usableFromInline
struct OperationBox<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<State.OperationValue, State.Failure>
  @usableFromInline
  typealias Run =
    nonisolated(nonsending) @Sendable (OperationContext, Continuation) async throws(State.Failure) ->
    State.OperationValue

  @usableFromInline let path: OperationPath
  @usableFromInline let run: Run
  @usableFromInline let storage: AnyOperationStorage

  @inlinable
  init<Operation: StatefulOperationRequest>(_ operation: Operation) where Operation.State == State {
    // The closure and the other members share one object.
    let storage = OperationStorage(operation)
    self.path = operation.path
    self.run = { context, continuation throws(State.Failure) in
      if context.mayRunInParts {
        return try await Self.runInParts(storage.operation, context, continuation)
      }
      return try await storage.operation.run(isolation: nil, in: context, with: continuation)
    }
    self.storage = storage
  }

  /// Runs an operation that may do its work in parts, and returns the value of the last one.
  // Not inlined: most operations do all their work at once.
  @inlinable
  @inline(never)
  nonisolated(nonsending) static func runInParts<Operation: StatefulOperationRequest>(
    _ operation: Operation,
    _ context: OperationContext,
    _ continuation: Continuation
  ) async throws(State.Failure) -> State.OperationValue where Operation.State == State {
    while true {
      let value = try await operation.run(isolation: nil, in: context, with: continuation)
      guard context.runAttachment?.takesAnotherPart() == true else { return value }
    }
  }

  /// Creates a box of the same operation with another `run` closure.
  init(_ other: OperationBox, run: @escaping Run) {
    self.path = other.path
    self.run = run
    self.storage = other.storage
  }

  fileprivate nonisolated(nonsending) func result(
    _ context: OperationContext,
    _ continuation: Continuation
  ) async -> Result<State.OperationValue, State.Failure> {
    do throws(State.Failure) {
      return .success(try await self.run(context, continuation))
    } catch {
      return .failure(error)
    }
  }

  @usableFromInline var unmodifiedType: any OperationRequest.Type { self.storage.unmodifiedType }
  @usableFromInline var allowsAutomaticRuns: Bool { self.storage.allowsAutomaticRuns }

  var operationName: String { self.storage.operationName }

  @usableFromInline
  func isSameRun(_ context: OperationContext, _ other: OperationContext) -> Bool {
    self.storage.isSameRun(context, other)
  }
}

extension OperationContext {
  /// Boxes an operation that has set up this context, and moves the wrappers that it added from the context to the box.
  @inlinable
  mutating func box<Operation: StatefulOperationRequest>(_ operation: Operation) -> OperationBox<Operation.State> {
    let box = OperationBox(operation)
    return self.hasRunWrappers ? self.wrapped(box) : box
  }

  @usableFromInline
  mutating func wrapped<State: OperationState & Sendable>(_ box: OperationBox<State>) -> OperationBox<State> {
    let wrappers = self.takeRunWrappers()
    return OperationBox(box) { context, continuation throws(State.Failure) in
      let result: Result<State.OperationValue, State.Failure> = await wrappers.run(isolation: nil, in: context) {
        await box.result($0, continuation)
      }
      return try result.get()
    }
  }
}
