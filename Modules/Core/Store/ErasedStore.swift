internal import Synchronization

/// What of a ``StoreRuntime`` does not depend on its state.
protocol ErasedRuntime: AnyObject, Sendable {
  var path: OperationPath { get }
  var context: OperationContext { get set }
  var isStale: Bool { get }
  var isLoading: Bool { get }
  var isAutomaticRunningEnabled: Bool { get }
  var canRunUnasked: Bool { get }
  var subscriberCount: Int { get }
  var unmodifiedOperationType: any OperationRequest.Type { get }
  var operationName: String { get }
  /// The store, while somebody holds it.
  var erasedStore: (any AnyObject & Sendable)? { get }
  /// Erases the type of a store that this works behind.
  func opaque(_ store: any AnyObject & Sendable) -> OpaqueOperationStore
  /// Another store that this works behind, with what is left when the store is gone.
  func makeStandIn() -> any AnyObject & Sendable

  /// Looks whether nobody subscribes and nothing runs.
  func readIdleness() -> StoreIdleness
  func keep(_ entry: StoreEntry)
  func leave(_ entry: StoreEntry)
  func reset(using context: OperationContext?)
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R
  func invalidate() -> Int
  func rerunAfterInvalidation(isEnqueued: Bool)
  func settled(afterInvalidation number: Int) async
  func settled() async
  func cancelRuns() -> @Sendable () async -> Void
  func snapshot() -> OperationClientSnapshot.Store
}

extension StoreRuntime: ErasedRuntime {
  var unmodifiedOperationType: any OperationRequest.Type { self.operation.unmodifiedType }

  var operationName: String { self.operation.operationName }

  var canRunUnasked: Bool { self.operation.canRunUnasked }

  var erasedStore: (any AnyObject & Sendable)? { self.reference.store }

  func opaque(_ store: any AnyObject & Sendable) -> OpaqueOperationStore {
    OpaqueOperationStore(erasing: unsafeDowncast(store, to: OperationStore<State>.self))
  }

  func makeStandIn() -> any AnyObject & Sendable { OperationStore(runtime: self) }

  var isLoading: Bool { self.machine.withLock { $0.state.isLoading } }

  func readIdleness() -> StoreIdleness {
    self.machine.withLock { StoreIdleness(isIdle: $0.isIdle, reading: self.nextIdlenessReading()) }
  }

  func keep(_ entry: StoreEntry) {
    // What the last look has found may still be on its way.
    entry.idlenessReading = self.idlenessReadings.load(ordering: .relaxed) &- 1
    let former = self.entryLock.withLock { _ in
      defer { self.entry = entry }
      return self.entry.take()
    }
    self.isInClient.store(true, ordering: .releasing)
    _ = consume former  // Released after the lock.
  }

  func leave(_ entry: StoreEntry) {
    self.entryLock.withLock { _ in
      // The caller holds it, so that nothing goes under the lock.
      if self.entry === entry { self.entry = nil }
    }
  }
}

/// A store of whatever state.
protocol RuntimeHolder {
  var erasedRuntime: any ErasedRuntime { get }
  var stateType: any Any.Type { get }
}

extension OperationStore: RuntimeHolder {
  var erasedRuntime: any ErasedRuntime { self.runtime }
  var stateType: any Any.Type { State.self }
}

/// A store as an ``OpaqueOperationStore`` holds it.
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

struct TypedErasedStore<State: OperationState & Sendable>: ErasedStore {
  let typedStore: OperationStore<State>

  var store: any AnyObject & Sendable { self.typedStore }
  var runtime: any ErasedRuntime { self.typedStore.runtime }
  var state: OpaqueOperationState { OpaqueOperationState(self.typedStore.state) }
  var stateWithoutLayers: any OperationState & Sendable { self.typedStore.stateWithoutLayers }

  var states: AsyncStream<(state: OpaqueOperationState, context: OperationContext)> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: (state: OpaqueOperationState, context: OperationContext).self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let handler = OperationEventHandler<State>(
      onStateChanged: { state, context in
        continuation.yield((OpaqueOperationState(state), context))
      }
    )
    let subscription = self.typedStore.runtime.subscribe(handler, mode: .enqueued) { continuation.finish() }
    continuation.onTermination = { _ in subscription.cancel() }
    return stream
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
