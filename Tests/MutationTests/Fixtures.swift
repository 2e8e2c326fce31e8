import OperationCore
import OperationMutation
import OperationTesting

typealias Script = OperationScript<String, any Error>
typealias Mutation = ScriptedMutation<String>
typealias MutationStore = OperationStore<MutationState<String, String, any Error>>
typealias Handler = MutationEventHandler<MutationState<String, String, any Error>>

typealias FeedState = QueryState<[String], any Error>
typealias FeedStore = OperationStore<FeedState>
typealias FeedScript = OperationScript<[String], any Error>

/// A mutation whose calls a script answers, whatever their arguments.
struct ScriptedMutation<Arguments: Sendable>: MutationRequest {
  let script: Script
  var path: OperationPath = ["mutation"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await self.script.run(in: context, with: continuation)
  }
}

/// A mutation that calls a closure.
struct ClosureMutation<Arguments: Sendable, Value: Sendable, MutateFailure: Error>: MutationRequest {
  var path: OperationPath = ["closure"]
  let body: @Sendable (Arguments, OperationContext) async throws(MutateFailure) -> Value

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, MutateFailure>
  ) async throws(MutateFailure) -> Value {
    try await self.body(arguments, context)
  }
}

extension ScriptedRun {
  /// The arguments of the call, if they are a string.
  var arguments: String? { self.context.mutationArguments() }
}

extension MutationStore {
  /// Starts a call at once, in a task that the test can await later.
  func begin(_ arguments: String, handler: Handler? = nil) -> Task<String, any Error> {
    Task.immediate { try await self.mutate(with: arguments, handler: handler) }
  }
}

/// A client with feeds at `["feed", number]` for mutations to change.
struct Feeds {
  let client = OperationClient()
  let script = FeedScript()

  func store(_ number: Int = 1, initialValue: [String]? = ["old"]) -> FeedStore {
    self.client.store(
      for: self.script.query(path: ["feed", number]),
      initialValue: initialValue
    )
  }
}

extension MutationRequest where Arguments == String {
  /// Shows the arguments of a call at the end of all feeds.
  func appending(to path: OperationPath = ["feed"]) -> ModifiedOperation<Self, OptimisticUpdate<Self, FeedState>> {
    self.optimistic(on: path, of: FeedState.self) { feed, arguments in feed?.append(arguments) }
  }
}
