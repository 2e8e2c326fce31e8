import Operation
import OperationTesting
import Testing

extension OperationRequest {
  func timed(_ report: @escaping @Sendable (Duration) -> Void) -> ModifiedOperation<Self, Timing<Self>> {
    modifier(Timing())
  }
}

struct Timing<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

final class Power: Sendable {
  func set(_ isOn: Bool) {}
}

struct PowerIsOn: OperationRunSpecification, Sendable {
  let power: Power

  func isSatisfied(in context: OperationContext) -> Bool { false }
}

final class Modem: NetworkObserver, Sendable {
  func subscribe(with handler: @escaping @Sendable (NetworkConnectionStatus) -> Void) -> OperationSubscription {
    .empty
  }
  func report(_ status: NetworkConnectionStatus) {}
}

final class Feed: Sendable {
  func send(_ number: Int) {}
}

struct FollowingFeed: OperationController, Sendable {
  let feed: Feed

  func control(with controls: OperationControls<QueryState<Int, any Error>>) -> OperationSubscription { .empty }
}

final class SmallCache: OperationClient.StoreCache {
  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {}
  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {}
}

final class LastValue: StoreCallInterceptor {
  init(patience: Duration) {}

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer { await call.proceed() }
}

final class Turnstile: WaitNode {
  let name: String

  init(_ name: String) {
    self.name = name
  }

  var waitName: String? { name }
  var waits: [WaitEdge] { [] }
}

extension OperationRequest {
  func queued(at turnstile: Turnstile) -> ModifiedOperation<Self, Timing<Self>> { modifier(Timing()) }
}
