/// An operation with its type erased.
///
/// The operation is run by a closure, not by an overridden method: the closure is created where the type of the
/// operation is known, so it calls the operation without dynamic dispatch.
@usableFromInline
package struct OperationBox: Sendable {
  /// Runs the operation with the context of a run, which receives the yielded results.
  @usableFromInline
  typealias Run = nonisolated(nonsending) @Sendable (OperationContext, RunInvocation) async -> RunOutcome

  let path: OperationPath
  let run: Run
  package let storage: AnyOperationStorage
  let preparations: [any OperationRunPreparation]

  @inlinable
  init<Operation: StatefulOperationRequest>(_ operation: Operation) {
    // The closure and the other members share one object.
    let storage = OperationStorage(operation)
    self.init(path: operation.path, storage: storage) { context, invocation in
      let continuation = OperationContinuation<Operation.Value, Operation.Failure> { result, context in
        invocation.yield(RunOutcome.of(result), using: context)
      }
      if context.mayRunInParts { return await Self.runInParts(storage.operation, context, continuation) }
      do throws(Operation.Failure) {
        return RunSuccess(try await storage.operation.run(isolation: nil, in: context, with: continuation))
      } catch {
        return RunOutcome.failure(error)
      }
    }
  }

  @usableFromInline
  init(path: OperationPath, storage: AnyOperationStorage, run: @escaping Run) {
    self.init(path: path, storage: storage, preparations: [], run: run)
  }

  init(
    path: OperationPath,
    storage: AnyOperationStorage,
    preparations: [any OperationRunPreparation],
    run: @escaping Run
  ) {
    self.path = path
    self.run = run
    self.storage = storage
    self.preparations = preparations
  }

  /// Runs an operation that may do its work in parts, and returns the outcome of the last part.
  @usableFromInline
  nonisolated(nonsending) static func runInParts<Operation: StatefulOperationRequest>(
    _ operation: Operation,
    _ context: OperationContext,
    _ continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async -> RunOutcome {
    do throws(Operation.Failure) {
      while true {
        let value = try await operation.run(isolation: nil, in: context, with: continuation)
        guard context.runAttachment?.takesAnotherPart() == true else { return RunSuccess(value) }
      }
    } catch {
      return RunFailure(error)
    }
  }

  @usableFromInline package var unmodifiedType: any OperationRequest.Type { self.storage.unmodifiedType }
  var failureType: any Error.Type { self.storage.failureType }
  var operationType: any OperationRequest.Type { self.storage.operationType }
  var allowsAutomaticRuns: Bool { self.storage.allowsAutomaticRuns }
  var operationName: String { self.storage.operationName }

  func isSameRun(_ context: OperationContext, _ other: OperationContext) -> Bool {
    self.storage.isSameRun(context, other)
  }
}

extension OperationContext {
  /// Boxes an operation that has set up this context, and moves the wrappers and preparations that it added from the
  /// context to the box.
  @inlinable
  mutating func box<Operation: StatefulOperationRequest>(_ operation: Operation) -> OperationBox {
    self.wrapped(OperationBox(operation))
  }

  @usableFromInline
  mutating func wrapped(_ box: OperationBox) -> OperationBox {
    if !self.hasRunWrappers, !self.hasRunPreparations { return box }
    let preparations = self.takeRunPreparations()
    let wrappers = self.takeRunWrappers()
    if wrappers.isEmpty {
      return OperationBox(path: box.path, storage: box.storage, preparations: preparations, run: box.run)
    }
    return OperationBox(path: box.path, storage: box.storage, preparations: preparations) { context, invocation in
      await wrappers.outcome(isolation: nil, in: context) {
        await box.run($0, invocation)
      } error: {
        $0.anyError
      }
    }
  }
}

// MARK: - Making a box

extension OperationContext {
  /// Decorates the operation, calls its `setup` with this context, and returns it in a box.
  @inlinable
  mutating func setUpBox<Operation: StatefulOperationRequest>(for operation: Operation) -> OperationBox {
    if self.isSet(DecoratorsKey.self) { return self.setUpDecoratedBox(for: operation) }
    operation.setup(context: &self)
    return self.box(operation)
  }

  @usableFromInline
  mutating func setUpDecoratedBox<Operation: StatefulOperationRequest>(
    for operation: Operation
  ) -> OperationBox {
    let decorators = self.operationDecorators
    self.operationDecorators = []
    return self.setUpBox(for: operation, in: decorators[...])
  }

  private mutating func setUpBox<Operation: StatefulOperationRequest>(
    for operation: Operation,
    in decorators: ArraySlice<any OperationDecorator>
  ) -> OperationBox {
    guard let decorator = decorators.first else {
      operation.setup(context: &self)
      return self.box(operation)
    }
    return self.setUpBox(forAny: decorator.decorated(operation), in: decorators.dropFirst())
  }

  private mutating func setUpBox<State: OperationState & Sendable>(
    forAny operation: any StatefulOperationRequest<State>,
    in decorators: ArraySlice<any OperationDecorator>
  ) -> OperationBox {
    self.setUpBox(for: operation, in: decorators)
  }
}
