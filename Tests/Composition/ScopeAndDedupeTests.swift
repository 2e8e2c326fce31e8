import Operation
import OperationTesting
import TestFixtures
import Testing

/// Calls that share runs inside and outside of scopes.
@Suite(.bounded, .warningsAreIssues)
struct ScopeAndDedupeTests {
  private enum Order: CaseIterable {
    case scopeInside
    case scopeOutside
  }

  private func mutation(_ order: Order, _ body: @escaping @Sendable (Int) async throws -> Void) -> any SharedMutation {
    let mutation = ScopedMutation(name: "shared", body: body)
    return switch order {
    case .scopeInside: mutation.scope("x").deduplicated()
    case .scopeOutside: mutation.deduplicated().scope("x")
    }
  }

  @Test(arguments: Order.allCases)
  private func `A call inside a scope joins no run that waits for the scope`(order: Order) async throws {
    let client = OperationClient(storeCreator: OperationClient.PlainStoreCreator())
    let shared = self.mutation(order) { _ in }
    let (isInside, mayCall) = (Gate(), Gate())
    let outer = ScopedMutation(name: "outer") { _ in
      isInside.open()
      try await mayCall.wait()
      try await shared.call(1, on: client)
    }.scope("x")
    let outerCall = Task { try await outer.call(0, on: client) }
    try await isInside.wait()
    let waiting = Task.immediate { try await shared.call(1, on: client) }
    mayCall.open()
    try await withTimeLimit("the calls to end") {
      try await outerCall.value
      try await waiting.value
    }
  }
}

private struct ScopedMutation: MutationRequest {
  let name: String
  let body: @Sendable (Int) async throws -> Void

  var path: OperationPath { [self.name] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.body(arguments)
  }
}

/// A mutation with any modifiers.
private protocol SharedMutation: MutationRequest<Int, Void, any Error> {}

extension ModifiedOperation: SharedMutation
where
  Operation: MutationRequest<Int, Void, any Error>,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{}

extension SharedMutation {
  fileprivate func call(_ number: Int, on client: OperationClient) async throws {
    try await client.store(for: self).mutate(with: number)
  }
}
