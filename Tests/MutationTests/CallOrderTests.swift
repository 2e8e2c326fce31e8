import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationMutation

/// The calls that a server has received, in order.
private final class Arrivals: Sendable {
  private let numbers = Mutex<[Int]>([])

  var all: [Int] { self.numbers.withLock { $0 } }

  func add(_ number: Int) { self.numbers.withLock { $0.append(number) } }
}

/// Begins calls from its own actor.
private actor Caller {
  func begin(_ count: Int, on store: OperationStore<MutationState<Int, Void, any Error>>) -> [Task<Void, any Error>] {
    (0..<count).map { number in
      Task {
        // So that the task runs on this actor.
        _ = self
        try await store.mutate(with: number)
      }
    }
  }
}

/// Runs an operation when a gate is open.
private struct BehindGate<Operation: OperationRequest>: OperationModifier {
  let gate: Gate

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    await self.gate.waitIgnoringCancellation()
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

@Suite(.bounded, .warningsAreIssues)
struct CallOrderTests {
  private static let callCount = ModelRuns.isThorough ? 20_000 : 1_500

  private let client = OperationClient()
  private let arrivals = Arrivals()
  private let script = Script()

  private func store() -> OperationStore<MutationState<Int, Void, any Error>> {
    let arrivals = self.arrivals
    let mutation = ClosureMutation<Int, Void, any Error> { number, _ in arrivals.add(number) }
    return self.client.store(for: mutation.scope("s"))
  }

  private func expectOrder(_ calls: [Task<Void, any Error>]) async throws {
    for call in calls { try await call.value }
    #expect(self.arrivals.all.elementsEqual(0..<calls.count) as Bool)
  }

  @Test @MainActor func `Calls that the main actor begins in tasks are made in order`() async throws {
    let store = self.store()
    try await self.expectOrder((0..<Self.callCount).map { number in Task { try await store.mutate(with: number) } })
  }

  @Test @MainActor func `Calls that the main actor begins in immediate tasks are made in order`() async throws {
    let store = self.store()
    let calls = (0..<Self.callCount).map { number in Task.immediate { try await store.mutate(with: number) } }
    try await self.expectOrder(calls)
  }

  @Test func `Calls that an actor begins are made in order`() async throws {
    try await self.expectOrder(await Caller().begin(Self.callCount, on: self.store()))
  }

  @Test @MainActor func `Calls that the main actor enqueues are made in order`() async throws {
    let store = self.store()
    let calls = (0..<Self.callCount).map { store.enqueue(with: $0) }
    for call in calls {
      #expect(await call.isAccepted)
      try await call.result
    }
    #expect(self.arrivals.all.elementsEqual(0..<Self.callCount) as Bool)
  }

  @Test func `Calls that threads enqueue one after the other are made in order`() async throws {
    let store = self.store()
    let next = Mutex((number: 0, calls: [EnqueuedCall<MutationState<Int, Void, any Error>>]()))
    let enqueue: @Sendable () -> Void = {
      for _ in 0..<Self.callCount / 2 {
        next.withLock { next in
          next.calls.append(store.enqueue(with: next.number))
          next.number += 1
        }
      }
    }
    await withTaskGroup { group in
      for _ in 0..<2 { group.addTask { enqueue() } }
    }
    for call in next.withLock({ $0.calls }) { try await call.result }
    #expect(self.arrivals.all.elementsEqual(0..<Self.callCount) as Bool)
  }

  @Test func `The updates of calls are shown in the order in which the calls began`() async throws {
    let feeds = Feeds()
    let feed = feeds.store()
    let store = feeds.client.store(for: Mutation(script: self.script).appending())
    let calls = await MainActor.run {
      (0..<50).map { number in Task { @MainActor in try await store.mutate(with: "\(number)") } }
    }
    try await self.script.runs(count: 50)
    expect(feed.currentValue, equals: ["old"] + (0..<50).map { "\($0)" })
    for _ in calls { try await self.script.next().succeed("made") }
    for call in calls { _ = try await call.value }
  }

  @Test func `A call that waits outside of its scope takes its position when it comes there`() async throws {
    let gate = Gate()
    let waiting = self.client.store(
      for: Mutation(script: self.script, path: ["waiting"]).scope("s").modifier(BehindGate(gate: gate))
    )
    let other = self.client.store(for: Mutation(script: self.script, path: ["other"]).scope("s"))
    let first = waiting.begin("first")
    try await gate.arrivals(count: 1)
    let second = other.begin("second")
    let run = try await self.script.next()
    expect(run.arguments, equals: "second")
    gate.open()
    run.succeed("made")
    try await self.script.next().succeed("made")
    _ = try await (first.value, second.value)
  }

  @Test func `A call that is cancelled before its run begins leaves no position behind`() async throws {
    let store = self.client.store(for: Mutation(script: self.script).scope("s"))
    let first = store.begin("first")
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.mutate(with: "cancelled")
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let last = store.begin("last")
    try await self.script.next().succeed("made")
    let run = try await self.script.next()
    expect(run.arguments, equals: "last")
    run.succeed("made")
    _ = try await (first.value, last.value)
  }

  @Test func `A call that joins the run of another one takes no position`() async throws {
    let mutation = Mutation(script: self.script).scope("s").context { $0.operationRunSharing = OperationRunSharing() }
    let store = self.client.store(for: mutation)
    let calls = ["a", "a", "b"].map { store.begin($0) }
    try await self.script.next().succeed("made a")
    let run = try await self.script.next()
    expect(run.arguments, equals: "b")
    run.succeed("made b")
    try await expect(calls[0].value, equals: "made a")
    try await expect(calls[1].value, equals: "made a")
    try await expect(calls[2].value, equals: "made b")
  }

  // MARK: - Enqueued calls

  @Test func `A cancelled task enqueues all the same, and cancelling a wait does not cancel the call`() async throws {
    let store = self.client.store(for: Mutation(script: self.script).scope("s"))
    let call = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return store.enqueue(with: "a")
    }.value
    let run = try await self.script.next()
    let wait = Task { try await call.result }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    run.succeed("made")
    try await expect(call.result, equals: "made")
    try await expect(call.result, equals: "made")
  }

  @Test func `A cancelled call ends, and the next one is made`() async throws {
    let store = self.client.store(for: Mutation(script: self.script).scope("s"))
    let calls = ["a", "b", "c"].map { store.enqueue(with: $0) }
    let first = try await self.script.next()
    calls[1].cancel()
    await #expect(throws: CancellationError.self) { try await calls[1].result }
    first.succeed("made")
    try await self.script.next().succeed("made")
    try await expect(calls[2].result, equals: "made")
  }

  @Test(arguments: ["at once", "behind an open gate", "behind a gate", "in two scopes"])
  func `A call that a body enqueues in its own scope comes behind it`(_ way: String) async throws {
    let client = self.client
    let gate = Gate(isOpen: way != "behind a gate")
    let mutation = Mutation(script: self.script, path: ["inner"]).scope("s")
    let inner =
      switch way {
      case "at once": client.store(for: mutation)
      case "in two scopes": client.store(for: mutation.scope("other"))
      default: client.store(for: mutation.modifier(BehindGate(gate: gate)))
      }
    let enqueued = Mutex<EnqueuedCall<MutationState<String, String, any Error>>?>(nil)
    let outer = client.store(
      for: ClosureMutation<String, String, any Error> { _, _ in
        let call = inner.enqueue(with: "behind")
        enqueued.withLock { $0 = call }
        #expect(await call.isAccepted)
        // The wait could not end before this body does.
        await #expect(throws: OperationCycleError.self) { try await call.result }
        return "outer"
      }.scope("s")
    )
    try await expect(outer.mutate(with: "outer"), equals: "outer")
    gate.open()
    let run = try await self.script.next()
    expect(run.arguments, equals: "behind")
    run.succeed("made")
    try await expect(enqueued.withLock { $0 }?.result, equals: "made")
  }

  @Test func `A call without a scope is accepted at once`() async throws {
    let store = self.client.store(for: Mutation(script: self.script))
    let call = store.enqueue(with: "a")
    #expect(await call.isAccepted)
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await call.result }
    #expect(await call.isAccepted)
  }
}
