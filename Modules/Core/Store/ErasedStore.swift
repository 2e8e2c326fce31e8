/// A store with the type of its state erased: the part of ``OpaqueOperationStore`` that depends on the type.
protocol ErasedStore: Sendable {
  var store: any AnyObject & Sendable { get }
  var runtime: any ErasedRuntime { get }
  var state: OpaqueOperationState { get }
  var stateWithoutLayers: any OperationState & Sendable { get }
  var states: AsyncStream<(state: OpaqueOperationState, context: OperationContext)> { get }

  func uncheckedSetResult(to result: Result<any Sendable, any Error>, using context: OperationContext?)
  func run(using context: OperationContext?, handler: OpaqueOperationEventHandler?) async throws -> any Sendable
  func runTask(using context: OperationContext?) -> OperationTask<any Sendable, any Error>
  func subscribe(with handler: OpaqueOperationEventHandler, isEnqueued: Bool) -> OperationSubscription
}

/// The implementation of ``ErasedStore`` for one state type.
struct TypedErasedStore<State: OperationState & Sendable>: ErasedStore {
  let typedStore: OperationStore<State>

  var store: any AnyObject & Sendable { self.typedStore }
  var runtime: any ErasedRuntime { self.typedStore.runtime }
  var state: OpaqueOperationState { OpaqueOperationState(self.typedStore.state) }
  var stateWithoutLayers: any OperationState & Sendable { self.typedStore.stateWithoutLayers }

  var states: AsyncStream<(state: OpaqueOperationState, context: OperationContext)> {
    self.typedStore.runtime.makeStream { (state: OpaqueOperationState($0), context: $1) }.elements
  }

  func uncheckedSetResult(to result: Result<any Sendable, any Error>, using context: OperationContext?) {
    switch result {
    case .success(let value):
      guard let value = value as? State.StateValue else {
        preconditionFailure(
          "The store at \(self.typedStore.path) holds a \(State.StateValue.self), not a \(type(of: value))."
        )
      }
      self.typedStore.setResult(to: .success(value), using: context)
    case .failure(let error):
      guard let error = error as? State.Failure else {
        preconditionFailure(
          "The store at \(self.typedStore.path) fails with a \(State.Failure.self), not a \(type(of: error))."
        )
      }
      self.typedStore.setResult(to: .failure(error), using: context)
    }
  }

  func run(using context: OperationContext?, handler: OpaqueOperationEventHandler?) async throws -> any Sendable {
    try await self.typedStore.run(using: context, handler: handler.map { OperationEventHandler($0) })
  }

  func runTask(using context: OperationContext?) -> OperationTask<any Sendable, any Error> {
    self.typedStore.runTask(using: context).mapError { $0 as any Error }.map { $0 as any Sendable }
  }

  func subscribe(with handler: OpaqueOperationEventHandler, isEnqueued: Bool) -> OperationSubscription {
    self.typedStore.runtime.subscribe(
      OperationEventHandler(handler),
      mode: isEnqueued ? .enqueued : .immediate
    )
  }
}
