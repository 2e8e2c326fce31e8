import Dispatch
import OperationCore
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// The cancellation of the caller, at every point of a run.
@Suite(.bounded, .warningsAreIssues) struct TimeoutCancellationTests {
  private let clock = ManualClock()

  @Test func `A cancelled caller leaves at once, and the operation is cancelled`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let notices = Log<OperationNotice>()
    let operation = script.operation().timeout(.seconds(2)).onNotice { notice, _ in notices.append(notice) }
    let task = operation.begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(run.isCancelled && script.activeRunCount == 1)
    expect(self.clock.sleeperCount(), equals: 0)
    // The rest of a cancelled run is dropped without a report.
    run.yield(1)
    run.succeed(2)
    try await script.noActiveRuns()
    #expect(notices.all.isEmpty)
  }

  @Test func `A caller that is cancelled before the run begins nothing`() async {
    let script = IntScript(default: .value(1))
    let operation = script.operation().timeout(.seconds(2))
    let clock = self.clock
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await operation.run(on: clock)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(script.runCount, equals: 0)
  }

  @Test func `A cancellation while the operation has not waited yet is passed on`() async throws {
    let script = IntScript()
    let clock = self.clock
    let (gate, callers) = (Gate(), Log<Task<Int, any Error>>())
    let operation = Work<Int, any Error> { context, continuation in
      callers.all.first?.cancel()
      return try await script.run(in: context, with: continuation)
    }
    let task = Task {
      try await gate.wait()
      return try await operation.timeout(.seconds(2)).run(on: clock)
    }
    callers.append(task)
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await script.noActiveRuns()
    expect(script.runCount, equals: 1)
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `A cancellation after the end of the run changes nothing`() async throws {
    let script = IntScript()
    let task = script.operation().timeout(.seconds(2)).begin(on: self.clock)
    try await script.next().succeed(1)
    try await expect(task.value, equals: 1)
    task.cancel()
    try await expect(task.value, equals: 1)
  }

  @Test func `A cancellation at the end of the time is never reported as a timeout`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let task = script.operation().timeout(.seconds(2)).begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    task.cancel()
    self.clock.advance(by: .seconds(2))
    await #expect(throws: CancellationError.self) { try await task.value }
    run.succeed(1)
    try await script.noActiveRuns()
  }

  @Test func `A timeout stays one when the caller is cancelled later`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let task = script.operation().timeout(.seconds(2)).begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut.self) { try await task.value }
    task.cancel()
    await #expect(throws: OperationTimedOut.self) { try await task.value }
    run.succeed(1)
    try await script.noActiveRuns()
  }

  @Test func `With a narrow failure a cancelled caller waits for the operation, without a time limit`() async throws {
    let script = OperationScript<Int, NarrowFailure>(endsOnCancellation: false)
    let operation = script.operation().timeout(.seconds(2)) { .slow($0.duration) }
    let task = operation.begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    task.cancel()
    try await run.cancelled()
    expect(self.clock.sleeperCount(), equals: 0)
    self.clock.advance(by: .seconds(10))
    run.fail(.refused)
    await #expect(throws: NarrowFailure.refused) { try await task.value }
  }

  @Test func `With a narrow failure a run that is cancelled before its start is cancelled, and runs`() async {
    let operation = Work<Bool, NarrowFailure> { _, _ in Task.isCancelled }.timeout(.seconds(2)) { .slow($0.duration) }
    let clock = self.clock
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await operation.run(on: clock)
    }
    expect((try? await task.value), equals: true)
  }

  @Test func `A narrow failure is mapped, and other errors are kept`() async throws {
    let script = OperationScript<Int, NarrowFailure>()
    script.enqueue(.error(.refused), .suspend)
    let operation = script.operation().timeout(.seconds(2)) { .slow($0.duration) }
    do throws(NarrowFailure) {
      try await operation.run(on: self.clock)
      Issue.record("The operation has not failed.")
    } catch {
      expect(error, equals: .refused)
    }
    let task = operation.begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(2))
    await #expect(throws: NarrowFailure.slow(.seconds(2))) { try await task.value }
    run.succeed(1)
    try await script.noActiveRuns()
  }

  @Test func `A store that is cancelled keeps its state`() async throws {
    let script = IntScript()
    let store = OperationStore.detached(query: script.query().timeout(.seconds(2)).manualTime(self.clock))
    let task = Task.immediate { try await store.fetch() }
    try await script.next().yield(1)
    try await self.clock.sleepers(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(store.currentValue == nil && store.error == nil && store.status.isIdle)
    try await script.noActiveRuns()
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `Ten thousand runs that end, time out or are cancelled leave nothing`() async throws {
    let lifetimes = LifetimeTracker()
    let script = IntScript()
    let operation = script.operation().timeout(.seconds(2))
    let tasks = (0..<10_000).map { _ in
      let token = lifetimes.token()
      return operation.begin(on: self.clock, with: OperationContinuation { _, _ in token.touch() })
    }
    for number in tasks.indices {
      let run = try await script.next()
      if number % 3 == 0 { run.succeed(number) }
    }
    for number in tasks.indices where number % 3 == 1 { tasks[number].cancel() }
    for number in tasks.indices where number % 3 == 0 { try await expect(tasks[number].value, equals: number) }
    for number in tasks.indices where number % 3 == 1 {
      await #expect(throws: CancellationError.self) { try await tasks[number].value }
    }
    try await self.clock.sleepers(count: 3333)
    self.clock.advance(by: .seconds(2))
    for number in tasks.indices where number % 3 == 2 {
      await #expect(throws: OperationTimedOut.self) { try await tasks[number].value }
    }
    try await script.noActiveRuns()
    expect(self.clock.sleeperCount(), equals: 0)
    try await lifetimes.noneAlive()
  }

  @Test func `A run that ends while its caller begins to wait loses no outcome`() async throws {
    let queue = DispatchQueue(label: "ends")
    for number in 0..<5_000 {
      let operation = Work<Int, any Error> { _, _ in
        await withUnsafeContinuation { continuation in queue.async { continuation.resume() } }
        return number
      }
      try await expect(operation.timeout(.seconds(2)).run(on: self.clock), equals: number)
    }
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `Time and cancellation race, and each caller gets one outcome`() async throws {
    for _ in 0..<300 {
      let clock = ManualClock()
      let script = IntScript()
      let task = script.operation().timeout(.seconds(2)).begin(on: clock)
      let run = try await script.next()
      try await clock.sleepers(count: 1)
      await withTaskGroup { group in
        group.addTask { clock.advance(by: .seconds(2)) }
        group.addTask { task.cancel() }
        group.addTask { run.succeed(1) }
      }
      let result = await task.result
      switch result {
      case .success(let value): expect(value, equals: 1)
      case .failure(let error): #expect(error is CancellationError || error is OperationTimedOut)
      }
      try await script.noActiveRuns()
      expect(clock.sleeperCount(), equals: 0)
    }
  }
}
