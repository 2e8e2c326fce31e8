/// A store whose state can have any type.
protocol ErasableStore: AnyObject, Sendable {
  var runtime: StoreRuntime { get }
  var stateType: any Any.Type { get }
  var erasedStates: AsyncStream<(state: OpaqueOperationState, context: OperationContext)> { get }

  func uncheckedSetResult(to result: Result<any Sendable, any Error>, using context: OperationContext?)
  func run(using context: OperationContext?, handler: OpaqueOperationEventHandler?) async throws -> any Sendable
  func erasedTask(using context: OperationContext?) -> OperationTask<any Sendable, any Error>
  func subscribe(with handler: OpaqueOperationEventHandler, isEnqueued: Bool) -> OperationSubscription
  func subscribe(
    named name: String,
    with handler: OpaqueOperationEventHandler,
    isEnqueued: Bool
  ) -> OperationSubscription
}

extension OperationStore: ErasableStore {
  var stateType: any Any.Type { State.self }

  var erasedStates: AsyncStream<(state: OpaqueOperationState, context: OperationContext)> {
    Self.makeStream(of: self.runtime) { (state: OpaqueOperationState($0), context: $1) }.elements
  }

  func uncheckedSetResult(to result: Result<any Sendable, any Error>, using context: OperationContext?) {
    switch result {
    case .success(let value):
      guard let value = value as? State.StateValue else {
        preconditionFailure(
          "The store at \(ShownText.of(self.path)) holds a \(State.StateValue.self), not a \(type(of: value))."
        )
      }
      self.setResult(to: .success(value), using: context)
    case .failure(let error):
      guard let error = error as? State.Failure else {
        preconditionFailure(
          "The store at \(ShownText.of(self.path)) fails with a \(State.Failure.self), not a \(type(of: error))."
        )
      }
      self.setResult(to: .failure(error), using: context)
    }
  }

  func run(using context: OperationContext?, handler: OpaqueOperationEventHandler?) async throws -> any Sendable {
    try await self.run(using: context, handler: handler.map { OperationEventHandler($0) })
  }

  func erasedTask(using context: OperationContext?) -> OperationTask<any Sendable, any Error> {
    self.runTask(using: context).mapError { $0 as any Error }.map { $0 as any Sendable }
  }

  func subscribe(with handler: OpaqueOperationEventHandler, isEnqueued: Bool) -> OperationSubscription {
    self.runtime.subscribe(OperationEventHandler<State>(handler), mode: isEnqueued ? .enqueued : .immediate)
  }

  func subscribe(
    named name: String,
    with handler: OpaqueOperationEventHandler,
    isEnqueued: Bool
  ) -> OperationSubscription {
    self.runtime.subscribe(
      OperationEventHandler<State>(handler),
      mode: isEnqueued ? .enqueued : .immediate,
      name: SubscriberName(name)
    )
  }
}

extension StoreRuntime {
  /// The types of the operation and of the state of a store whose own type is unknown.
  ///
  /// - Parameter store: The store.
  /// - Returns: The types; nil for another object.
  package static func types(of store: any AnyObject) -> (operation: any OperationRequest.Type, state: any Any.Type)? {
    (store as? any ErasableStore).map { ($0.runtime.unmodifiedOperationType, $0.stateType) }
  }
}
