internal import OperationCore

/// A store with a subscriber that counts its changes. Its controllers can be ended before it.
final class ControlledStore: Sendable {
  private let store: OperationStore<QueryState<Int, any Error>>
  private let subscription: OperationSubscription
  private let changes: AwaitableState<Int>
  private let controllers: ControllerSubscriptions

  init<Controlled: StatefulOperationRequest<QueryState<Int, any Error>>>(
    of operation: Controlled,
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) where Controlled.Value == Int, Controlled.Failure == any Error {
    let (changes, controllers) = (AwaitableState(0), ControllerSubscriptions())
    self.changes = changes
    self.controllers = controllers
    self.store = OperationStore.detached(
      operation: operation.modifier(ControllerInterposing(subscriptions: controllers)),
      initialState: QueryState(initialValue: nil),
      initialContext: context
    )
    self.subscription = self.store.subscribe(
      with: OperationEventHandler { state, _ in
        let count = state.valueUpdateCount + state.errorUpdateCount
        let isChange = changes.change { changes in
          defer { changes = max(changes, count) }
          return count > changes
        }
        if isChange { onChange() }
      }
    )
  }

  /// How often a value or an error was set.
  var changeCount: Int { self.changes.current }

  /// Waits until there are `count` changes. Records no issue.
  func changes(atLeast count: Int, within limit: Duration, _ which: String) async throws {
    try await self.changes.wait(.cancellable(limit)) { changes in
      "a change of \(which) after the controller acted; it changed \(changes) times, not \(count)"
    } until: { changes in
      changes >= count ? () : nil
    }
  }

  /// Cancels the subscriptions of the controllers, as the end of the store does.
  func cancelControllers() {
    self.controllers.cancel()
  }
}

/// The subscriptions that the controllers of a store have returned.
final class ControllerSubscriptions: Sendable {
  private let subscriptions = Locked<[OperationSubscription]>([])

  func add(_ subscription: OperationSubscription) {
    self.subscriptions.withLock { $0.append(subscription) }
  }

  func cancel() {
    let subscriptions = self.subscriptions.withLock { $0 }
    for subscription in subscriptions { subscription.cancel() }
  }
}

/// Records the subscriptions of an operation's controllers.
private struct ControllerInterposing<Operation: OperationRequest>: OperationModifier {
  let subscriptions: ControllerSubscriptions

  func setup(context: inout OperationContext, using operation: Operation) {
    operation.setup(context: &context)
    context.operationControllers = context.operationControllers.map { self.interposed($0) }
  }

  private func interposed(
    _ controller: some OperationController & Sendable
  ) -> any OperationController & Sendable {
    InterposedController(base: controller, subscriptions: self.subscriptions)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

private struct InterposedController<Base: OperationController & Sendable>: OperationController {
  let base: Base
  let subscriptions: ControllerSubscriptions

  func control(with controls: OperationControls<Base.State>) -> OperationSubscription {
    let subscription = self.base.control(with: controls)
    self.subscriptions.add(subscription)
    return subscription
  }
}

/// A context entry with a token, for a check that waits for the release of a context.
enum TokenKey: OperationContext.Key {
  static var defaultValue: LifetimeTracker.Token? { nil }
}
