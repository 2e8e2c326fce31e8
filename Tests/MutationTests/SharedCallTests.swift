import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct SharedCallTests {
  private func isSame<Arguments: Sendable>(_ first: Arguments, _ second: Arguments) async throws -> Bool {
    let contexts = Log<OperationContext>()
    let mutation = ClosureMutation<Arguments, Int, any Error> { _, context in
      contexts.append(context)
      return 0
    }
    let store = OperationStore.detached(mutation: mutation)
    try await store.mutate(with: first)
    try await store.mutate(with: second)
    return mutation.scope(1).isSameRun(in: contexts.all[0], as: contexts.all[1])
  }

  @Test func `Calls are the same if their arguments are equatable and equal`() async throws {
    struct Opaque: Sendable {
      var number = 1
    }
    #expect(try await self.isSame("a", "a"))
    #expect(try await !self.isSame("a", "b"))
    #expect(try await self.isSame((), ()))
    #expect(try await self.isSame(Int?.none, Int?.none))
    #expect(try await !self.isSame(Opaque(), Opaque()))
    #expect(!Mutation(script: Script()).isSameRun(in: OperationContext(), as: OperationContext()))
  }

  @Test func `Each call runs, unless the mutation shares the runs of equal calls`() async throws {
    let script = Script()
    let store = MutationStore.detached(mutation: Mutation(script: script))
    let twice = [store.begin("a"), store.begin("a")]
    for _ in twice { try await script.next().succeed("made") }
    for call in twice { _ = try await call.value }

    let sharing = MutationStore.detached(
      mutation: Mutation(script: script).context { $0.operationRunSharing = OperationRunSharing() }
    )
    let calls = ["a", "b", "a"].map { sharing.begin($0) }
    let first = try await script.next()
    let second = try await script.next()
    expect(script.runCount, equals: 4)
    first.succeed("1")
    second.succeed("2")
    try await expect(calls[0].value, equals: "1")
    try await expect(calls[1].value, equals: "2")
    try await expect(calls[2].value, equals: "1")
    expect(sharing.history.count, equals: 2)
  }

  @Test func `A call inside of a scope joins a run that has waited for its turn there, and has left it`() async throws {
    let (script, gate) = (Script(default: .value("made")), Gate())
    script.enqueue(.suspend)
    let client = OperationClient()
    let left = client.store(
      for: Mutation(script: script, path: ["left"]).scope("s").modifier(EndingBehindGate(gate: gate))
        .context { $0.operationRunSharing = OperationRunSharing() }
    )
    let holder = Gate()
    let first = client.store(
      for: ClosureMutation<String, String, any Error>(path: ["first"]) { _, _ in
        try await holder.wait()
        return "first"
      }.scope("s")
    )
    let calls = [first.begin("a"), left.begin("a")]
    holder.open()
    let run = try await script.next()
    let inside = client.store(
      for: ClosureMutation<String, String, any Error>(path: ["inside"]) { _, _ in
        try await left.mutate(with: "a", handler: Handler(onMutatingStarted: { _, _ in gate.open() }))
      }.scope("s")
    )
    let call = inside.begin("b")
    run.succeed("made")
    try await expect(call.value, equals: "made")
    try await expect(calls[1].value, equals: "made")
    _ = try await calls[0].value
    expect(script.runCount, equals: 1)
  }
}

/// Ends the run of an operation when a gate is open.
private struct EndingBehindGate<Operation: OperationRequest>: OperationModifier {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let value = try await operation.run(isolation: isolation, in: context, with: continuation)
    await self.gate.waitIgnoringCancellation()
    return value
  }
}
