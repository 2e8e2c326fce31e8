import OperationCore
import TestFixtures

/// An interceptor whose answers come from a closure.
final class Intercepting: StoreCallInterceptor {
  typealias Answer = nonisolated(nonsending) @Sendable (StoreCall) async -> StoreCallAnswer

  private let answer: Answer

  init(_ answer: @escaping Answer) {
    self.answer = answer
  }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer { await self.answer(call) }
}

extension StatefulOperationRequest {
  /// Adds an interceptor, outside of those of this operation.
  func intercepted(by interceptor: some StoreCallInterceptor) -> ContextModifiedOperation<Self> {
    self.context { $0.callInterceptors.append(interceptor) }
  }

  /// Adds an interceptor whose answers come from a closure.
  func intercepted(_ answer: @escaping Intercepting.Answer) -> ContextModifiedOperation<Self> {
    self.intercepted(by: Intercepting(answer))
  }

  /// Lets all callers of a store share runs.
  func sharingRuns() -> ContextModifiedOperation<Self> {
    self.context { $0.operationRunSharing = OperationRunSharing() }
  }
}

/// An outcome of a store of numbers as text.
func text(_ outcome: StoreOutcome) -> String {
  if outcome.isCancellation { return "cancelled" }
  return outcome.error.map { "\($0)" } ?? outcome.value(as: Int.self).map { "\($0)" } ?? "another value"
}
