import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// Calls that a modifier outside of all others makes in several attempts.
@Suite(.bounded, .warningsAreIssues)
struct AttemptTests {
  private let feeds = Feeds()
  private let script = Script()
  private let recorder = EventRecorder<FeedState>()

  @Test(arguments: [true, false])
  func `With a retry outside, an update is shown once, until the last attempt has ended`(
    succeeds: Bool
  ) async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let mutation = Mutation(script: self.script).appending().tryingAgain(times: 2)
    let call = self.feeds.client.store(for: mutation).begin("new")
    for code in 1...2 {
      try await self.script.next().fail(Refused(code: code))
      // The next attempt has started, or is about to start.
      expect(feed.currentValue, equals: ["old", "new"])
    }
    let last = try await self.script.next()
    expect(feed.currentValue, equals: ["old", "new"])
    if succeeds { last.succeed("made") } else { last.fail(Refused(code: 3)) }
    _ = try? await call.value

    let end = succeeds ? ["old", "new"] : ["old"]
    expect(feed.currentValue, equals: end)
    expect(self.recorder.stateValues, equals: [["old"], ["old", "new"], end])
    subscription.cancel()
  }

  @Test func `Stores are invalidated once, when the last attempt has ended`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    let mutation = Mutation(script: self.script).invalidates(matching: ["feed"]).appending().doingTwice()
    let call = self.feeds.client.store(for: mutation).begin("new")
    try await self.script.next().succeed("first")
    let last = try await self.script.next()
    expect(self.feeds.script.runCount, equals: 0)
    expect(feed.currentValue, equals: ["old", "new"])

    last.succeed("second")
    try await expect(call.value, equals: "second")

    expect(self.feeds.script.runCount, equals: 1)
    let refetch = try await self.feeds.script.next()
    expect(feed.currentValue, equals: ["old", "new"])
    refetch.succeed(["fresh"])
    await feed.settled()
    expect(feed.currentValue, equals: ["fresh"])
    subscription.cancel()
  }

  @Test func `An update is removed when a modifier outside turns the value into a failure`() async throws {
    let feed = self.feeds.store()
    self.script.enqueue(.value("made"))
    let mutation = Mutation(script: self.script).appending().refused()
    await #expect(throws: Refused.self) { try await self.feeds.client.store(for: mutation).mutate(with: "new") }
    expect(feed.currentValue, equals: ["old"])
  }

  @Test func `The update of a call that is cancelled between two attempts is removed`() async throws {
    let feed = self.feeds.store()
    let gate = Gate()
    let mutation = Mutation(script: self.script).appending().tryingAgain(after: gate)
    let call = self.feeds.client.store(for: mutation).begin("new")
    try await self.script.next().fail(Refused())
    try await gate.arrivals(count: 1)
    expect(feed.currentValue, equals: ["old", "new"])
    call.cancel()
    _ = try? await call.value
    expect(feed.currentValue, equals: ["old"])
    expect(self.script.runCount, equals: 1)
  }

  @Test(arguments: [true, false])
  func `A runner keeps an update through all attempts too`(succeeds: Bool) async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    self.script.enqueue(.error(Refused(code: 1)), succeeds ? .value("made") : .error(Refused(code: 2)))
    var context = OperationContext()
    context.operationClient = self.feeds.client
    let runner = OperationRunner(
      operation: ScriptedMutation<Void>(script: self.script)
        .optimistic(on: ["feed"], of: FeedState.self) { feed, _ in feed?.append("new") }
        .tryingAgain(),
      initialContext: context
    )
    _ = try? await runner.run()
    expect(self.recorder.stateValues, equals: [["old"], ["old", "new"], succeeds ? ["old", "new"] : ["old"]])
    subscription.cancel()
  }

  @Test func `A direct call of a mutation keeps an update through all attempts too`() async throws {
    let feed = self.feeds.store()
    let subscription = feed.subscribe(with: self.recorder.handler)
    self.script.enqueue(.error(Refused()), .value("made"))
    var context = OperationContext()
    context.operationClient = self.feeds.client
    let mutation = Mutation(script: self.script).appending().tryingAgain()
    _ = try await mutation.mutate(isolation: nil, with: "new", in: context, with: .init { _, _ in })
    expect(self.recorder.stateValues, equals: [["old"], ["old", "new"], ["old", "new"]])
    subscription.cancel()
  }

  @Test func `Direct calls in the body of another call have updates of their own`() async throws {
    let feed = self.feeds.store()
    let inner = Mutation(script: self.script).appending()
    let outer = ClosureMutation<String, String, any Error> { arguments, context in
      for number in 1...2 {
        _ = try? await inner.mutate(isolation: nil, with: "\(number)", in: context, with: .init { _, _ in })
      }
      return arguments
    }.appending()
    self.script.enqueue(.error(Refused()), .value("made"))
    try await self.feeds.client.store(for: outer).mutate(with: "outer")
    expect(feed.currentValue?.sorted(), equals: ["2", "old", "outer"])
  }
}

/// Runs the operation twice, and returns the second value.
private struct Twice<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    _ = try await operation.run(isolation: isolation, in: context, with: continuation)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Throws an error in place of each value.
private struct Refusing<Operation: OperationRequest>: OperationModifier where Operation.Failure == any Error {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    _ = try await operation.run(isolation: isolation, in: context, with: continuation)
    throw Refused()
  }
}

/// Runs the operation again when a gate has opened.
private struct TryAgainAfter<Operation: OperationRequest>: OperationModifier where Operation.Failure == any Error {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    do {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      try await self.gate.wait()
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
  }
}

extension MutationRequest where MutateFailure == any Error {
  fileprivate func doingTwice() -> ModifiedOperation<Self, Twice<Self>> { self.modifier(Twice()) }

  fileprivate func refused() -> ModifiedOperation<Self, Refusing<Self>> { self.modifier(Refusing()) }

  fileprivate func tryingAgain(after gate: Gate) -> ModifiedOperation<Self, TryAgainAfter<Self>> {
    self.modifier(TryAgainAfter(gate: gate))
  }
}
