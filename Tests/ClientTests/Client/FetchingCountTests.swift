import CoreFixtures
import OperationCore
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

/// `fetchingCounts`: how many stores have a run under way, followed.
@Suite(.bounded, .warningsAreIssues)
struct FetchingCountTests {
  private let client = OperationClient()

  private func begin(_ path: OperationPath) async throws -> (ScriptedRun<Int, any Error>, Task<Int, any Error>) {
    let script = IntScript()
    let store = self.client.store(for: script.query(path: path))
    let task = Task.immediate { try await store.fetch() }
    return (try await script.next(), task)
  }

  @Test
  func `The current number comes first, and then each that differs`() async throws {
    var counts = self.client.fetchingCounts().makeAsyncIterator()
    await expect(counts.next(), equals: 0)
    let (run, task) = try await self.begin(["a"])
    await expect(counts.next(), equals: 1)
    let (other, otherTask) = try await self.begin(["b"])
    await expect(counts.next(), equals: 2)
    run.succeed(1)
    _ = try await task.finished()
    await expect(counts.next(), equals: 1)
    other.fail(Refused())
    await #expect(throws: Refused.self) { try await otherTask.finished() }
    await expect(counts.next(), equals: 0)
  }

  @Test
  func `Runs that began before are counted, and several changes come as one`() async throws {
    let (run, task) = try await self.begin(["a"])
    var counts = self.client.fetchingCounts().makeAsyncIterator()
    await expect(counts.next(), equals: 1)
    run.succeed(1)
    _ = try await task.finished()
    var runs: [(ScriptedRun<Int, any Error>, Task<Int, any Error>)] = []
    for number in 0..<5 { runs.append(try await self.begin(["b", number])) }
    await expect(counts.next(), equals: 5)
    for (run, task) in runs {
      run.succeed(1)
      _ = try await task.finished()
    }
    await expect(counts.next(), equals: 0)
  }

  @Test
  func `A store with several runs counts once, and only paths with the prefix count`() async throws {
    var counts = self.client.fetchingCounts(matching: ["a"]).makeAsyncIterator()
    await expect(counts.next(), equals: 0)
    let script = IntScript()
    let store = self.client.store(for: script.query(path: ["a", 1]))
    let tasks = (0..<2).map { _ in Task.immediate { try await store.fetch() } }
    let runs = [try await script.next(), try await script.next()]
    let (other, otherTask) = try await self.begin(["b"])
    await expect(counts.next(), equals: 1)
    expect(self.client.isFetching(), equals: 2)
    for run in runs { run.succeed(1) }
    for task in tasks { _ = try await task.finished() }
    await expect(counts.next(), equals: 0)
    other.succeed(1)
    _ = try await otherTask.finished()
  }

  @Test
  func `A store that is cleared, reset or cancelled counts no more`() async throws {
    var counts = self.client.fetchingCounts().makeAsyncIterator()
    await expect(counts.next(), equals: 0)
    let (cleared, clearedTask) = try await self.begin(["a"])
    await expect(counts.next(), equals: 1)
    self.client.clearStores(matching: ["a"])
    await expect(counts.next(), equals: 0)
    let (_, resetTask) = try await self.begin(["b"])
    await expect(counts.next(), equals: 1)
    self.client.resetStores(matching: ["b"])
    await expect(counts.next(), equals: 0)
    let (_, cancelledTask) = try await self.begin(["c"])
    await expect(counts.next(), equals: 1)
    await self.client.cancel(matching: ["c"])
    await expect(counts.next(), equals: 0)
    cleared.succeed(1)
    try await expect(clearedTask.finished(), equals: 1)
    await #expect(throws: CancellationError.self) { try await resetTask.finished() }
    await #expect(throws: CancellationError.self) { try await cancelledTask.finished() }
  }

  @Test
  func `A store that is inserted while it loads counts from then on`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(path: ["d"]))
    let task = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    var counts = self.client.fetchingCounts().makeAsyncIterator()
    await expect(counts.next(), equals: 0)
    self.client.withStores(of: IntState.self) { stores, _ in stores.update(store) }
    await expect(counts.next(), equals: 1)
    run.succeed(1)
    _ = try await task.finished()
    await expect(counts.next(), equals: 0)
  }

  @Test
  func `Cancelling the reader ends the sequence, and nothing is counted any more`() async throws {
    let client = self.client
    let received = Receiver<Int>()
    let reader = Task {
      for await count in client.fetchingCounts() { received.receive(count) }
    }
    try await received.last(0)
    reader.cancel()
    try await reader.finished()
    let (run, task) = try await self.begin(["a"])
    run.succeed(1)
    _ = try await task.finished()
    expect(received.all, equals: [0])
  }

  @Test
  func `An iterator keeps neither a store nor the client alive`() async throws {
    let lifetimes = LifetimeTracker()
    var counts: OperationClient.FetchingCounts.AsyncIterator
    do {
      let client = OperationClient()
      counts = client.fetchingCounts().makeAsyncIterator()
      let script = OperationScript<LifetimeTracker.Token, any Error>(default: .value(lifetimes.token()))
      try await client.store(for: script.query(path: ["a"])).fetch()
    }
    try await lifetimes.noneAlive()
    await expect(counts.next(), equals: 0)
  }

  @Test
  func `Ten thousand runs are counted`() async throws {
    let gate = Gate()
    var counts = self.client.fetchingCounts().makeAsyncIterator()
    await expect(counts.next(), equals: 0)
    let client = self.client
    let tasks = (0..<10_000).map { number in
      Task.immediate {
        try await client.store(for: QueryOperation("many", number) { _ in try await gate.wait() }).fetch()
      }
    }
    expect(client.isFetching(), equals: 10_000)
    await expect(counts.next(), equals: 10_000)
    gate.open()
    for task in tasks { try await task.finished() }
    await expect(counts.next(), equals: 0)
  }

  @Test(arguments: 0..<20)
  func `At rest the number is the one that isFetching counts`(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let counter = FetchingCounter {}
    let subscription = counter.start(self.client, matching: ["n"])
    var active: [(script: IntScript, run: ScriptedRun<Int, any Error>, task: Task<Int, any Error>)] = []
    for _ in 0..<200 {
      let path: OperationPath = [Bool.random(using: &random) ? "n" : "m", Int.random(in: 0..<6, using: &random)]
      switch Int.random(in: 0..<8, using: &random) {
      case 0...2:
        let script = IntScript()
        let store = self.client.store(for: ScriptedNumber(path: path), initialState: IntState())
        var context = OperationContext()
        context[ScriptKey.self] = script
        let task = Task.immediate { [context] in try await store.run(using: context) }
        active.append((script, try await script.next(), task))
      case 3:
        if !active.isEmpty { active.remove(at: Int.random(in: 0..<active.count, using: &random)).run.succeed(1) }
      case 4:
        if !active.isEmpty { active.remove(at: Int.random(in: 0..<active.count, using: &random)).task.cancel() }
      case 5: self.client.clearStore(with: path)
      case 6: self.client.store(with: path)?.resetState()
      default: self.client.store(with: path)?.withExclusiveAccess { $0.resetState() }
      }
    }
    for (_, run, task) in active {
      run.succeed(1)
      _ = try? await task.finished()
    }
    await self.client.cancel()
    expect(self.client.isFetching(), equals: 0)
    expect(counter.count, equals: 0)
    var runs: [(ScriptedRun<Int, any Error>, Task<Int, any Error>)] = []
    for path in [["n", 10], ["n", 11], ["m", 12]] as [OperationPath] { runs.append(try await self.begin(path)) }
    expect(self.client.isFetching(matching: ["n"]), equals: 2)
    expect(counter.count, equals: 2)
    for (run, task) in runs {
      run.succeed(1)
      _ = try await task.finished()
    }
    expect(counter.count, equals: 0)
    subscription.cancel()
  }
}

/// A query whose runs are those of the script in the context of the call.
private struct ScriptedNumber: StatefulOperationRequest, Sendable {
  typealias State = IntState

  let path: OperationPath

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    guard let script = context[ScriptKey.self] else { return 0 }
    return try await script.run(in: context, with: continuation)
  }
}

private enum ScriptKey: OperationContext.Key {
  static let defaultValue: IntScript? = nil
}
