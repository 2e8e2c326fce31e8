import OperationCore
import OperationTesting
import Testing

typealias IntState = QueryState<Int, any Error>
typealias IntStore = OperationStore<IntState>
typealias IntScript = OperationScript<Int, any Error>
typealias IntRecorder = EventRecorder<IntState>

/// A number in a context.
enum NumberKey: OperationContext.Key {
  static let defaultValue = 0
}

extension OperationContext {
  init(number: Int) {
    self.init()
    self[NumberKey.self] = number
  }
}

extension Task where Failure == any Error {
  /// The value of the task, or an issue when that takes too long.
  func finished(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Success {
    try await withTimeLimit("a task to end", sourceLocation: sourceLocation) { try await self.value }
  }
}

extension Task where Failure == Never {
  /// The value of the task, or an issue when that takes too long.
  func finished(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Success {
    try await withTimeLimit("a task to end", sourceLocation: sourceLocation) { await self.value }
  }
}

/// An interceptor whose answers come from a closure.
final class Interceptor: StoreCallInterceptor {
  private let answer: nonisolated(nonsending) @Sendable (StoreCall) async -> StoreCallAnswer

  init(_ answer: nonisolated(nonsending) @escaping @Sendable (StoreCall) async -> StoreCallAnswer) {
    self.answer = answer
  }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer { await self.answer(call) }
}

/// Two ways to run a deduplicated operation: in a store, and with a runner.
enum Runner: CaseIterable, Sendable, CustomTestStringConvertible {
  case store
  case runner

  var testDescription: String {
    switch self {
    case .store: "in a store"
    case .runner: "in a runner"
    }
  }

  /// Returns a closure that runs the query each time it is called.
  func callAsFunction<Failure: Error>(
    _ query: some QueryRequest<Int, Failure>
  ) -> @Sendable (OperationContext?) async throws(Failure) -> Int {
    switch self {
    case .store:
      let store = OperationStore.detached(query: query)
      return { context async throws(Failure) in try await store.fetch(using: context) }
    case .runner:
      let runner = OperationRunner(operation: query)
      return { context async throws(Failure) in try await runner.run(in: context) }
    }
  }
}
