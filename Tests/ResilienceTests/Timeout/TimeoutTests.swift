import OperationCore
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct TimeoutTests {
  private let clock = ManualClock()

  @Test func `A run that ends in time returns its value and leaves no timer`() async throws {
    let script = IntScript()
    let task = script.operation().timeout(.seconds(2)).begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    expect(self.clock.remainingTimes(), equals: [.seconds(2)])
    self.clock.advance(by: .milliseconds(1999))
    run.succeed(7)
    try await expect(task.value, equals: 7)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A run that returns at once never has a timer`() async throws {
    let clock = self.clock
    let operation = Work<Int, any Error> { _, _ in
      expect(clock.sleeperCount(), equals: 0)
      return 3
    }
    try await expect(operation.timeout(.seconds(2)).run(on: clock), equals: 3)
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `An error of the operation surfaces unchanged`() async throws {
    let script = IntScript()
    script.enqueue(.error(Refused(code: 1)))
    let operation = script.operation().timeout(.seconds(2))
    await #expect(throws: Refused(code: 1)) { try await operation.run(on: self.clock) }
    let task = operation.begin(on: self.clock)
    try await script.next().fail(Refused(code: 2))
    await #expect(throws: Refused(code: 2)) { try await task.value }
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A run that takes too long ends on time, and is cancelled`() async throws {
    let script = IntScript()
    let task = script.operation().timeout(.seconds(2)).begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut(after: .seconds(2))) { try await task.value }
    #expect(run.isCancelled)
    try await script.noActiveRuns()
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `The caller does not wait for a body that ignores its cancellation`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let lifetimes = LifetimeTracker()
    let values = Log<Int>()
    let recorder = WarningRecorder()
    try await recorder.recording {
      let token = lifetimes.token()
      let continuation = OperationContinuation<Int, any Error> { result, _ in
        token.touch()
        if case .success(let value) = result { values.append(value) }
      }
      let task = script.operation().timeout(.seconds(2)).begin(on: self.clock, with: continuation)
      let run = try await script.next()
      run.yield(1)
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(2))
      await #expect(throws: OperationTimedOut(after: .seconds(2))) { try await task.value }
      #expect(script.activeRunCount == 1 && run.isCancelled)
      run.yield(2)
      run.yield(error: Refused())
      run.succeed(3)
    }
    try await script.noActiveRuns()
    expect(values.all, equals: [1])
    expect(recorder.warnings.map(\.code), equals: [.abandoned, .abandoned])
    #expect(recorder.warnings.allSatisfy { $0.message.contains("abandoned run of ScriptedOperation") })
    // The abandoned run does not retain the objects of its caller.
    try await lifetimes.noneAlive()
  }

  @Test func `A run yields in time, and a yield after its end is reported as such`() async throws {
    let kept = Log<OperationContinuation<Int, any Error>>()
    let values = Log<Int>()
    let operation = Work<Int, any Error> { _, continuation in
      kept.append(continuation)
      continuation.yield(1)
      return 2
    }
    let recorder = WarningRecorder()
    let value = try await recorder.recording {
      let value = try await operation.timeout(.seconds(1)).run(on: self.clock, with: values.continuation())
      kept.all.first?.yield(3)
      return value
    }
    expect(value, equals: 2)
    expect(values.all, equals: [1])
    expect(recorder.warnings.map(\.code), equals: [.yieldAfterReturn])
  }

  @Test func `A yield of an abandoned run after its end is reported as one after the return`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let kept = Log<OperationContinuation<Int, any Error>>()
    let operation = Work<Int, any Error> { context, continuation in
      kept.append(continuation)
      return try await script.run(in: context, with: continuation)
    }
    let recorder = WarningRecorder()
    try await recorder.recording {
      let task = operation.timeout(.seconds(1)).begin(on: self.clock)
      let run = try await script.next()
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(1))
      await #expect(throws: OperationTimedOut.self) { try await task.value }
      kept.all.first?.yield(1)
      run.succeed(2)
      try await script.noActiveRuns()
    }
    expect(recorder.warnings.map(\.code), equals: [.abandoned])
  }

  @Test func `A limit of zero does not begin the operation`() async {
    let script = IntScript(default: .value(1))
    let operation = script.operation().timeout(.zero)
    await #expect(throws: OperationTimedOut(after: .zero)) { try await operation.run(on: self.clock) }
    expect(script.runCount, equals: 0)
  }

  @Test func `A negative limit is reported and counts as zero`() async {
    let script = IntScript(default: .value(1))
    let operation = expectWarning(.invalidArgument) { script.operation().timeout(.seconds(-1)) }
    await #expect(throws: OperationTimedOut(after: .zero)) { try await operation.run(on: self.clock) }
    let other = expectWarning(.invalidArgument) { script.operation().deadline(after: .seconds(Int64.min)) }
    await #expect(throws: OperationTimedOut(after: .zero)) { try await other.run(on: self.clock) }
  }

  @Test(arguments: [Duration.seconds(Int64.max), .nanoseconds(1), Duration(attoseconds: .max)])
  func `Extreme limits work`(limit: Duration) async throws {
    let script = IntScript()
    let task = script.operation().timeout(limit).begin(on: self.clock)
    let run = try await script.next()
    try await self.clock.sleepers(count: 1)
    run.succeed(1)
    try await expect(task.value, equals: 1)
    try await self.clock.noSleepers()
    let system = script.operation().timeout(limit)
    if limit > .seconds(1) {
      script.enqueue(.value(2))
      try await expect(OperationRunner(operation: system).run(), equals: 2)
    }
  }

  @Test func `The time that the operation blocks its thread counts`() async throws {
    let clock = self.clock
    let script = IntScript()
    let operation = Work<Int, any Error> { context, continuation in
      // As if the operation had computed for three seconds before its first wait.
      clock.advance(by: .seconds(3))
      return try await script.run(in: context, with: continuation)
    }
    let task = operation.timeout(.seconds(5)).begin(on: clock)
    _ = try await script.next()
    try await clock.sleepers(count: 1)
    expect(clock.remainingTimes(), equals: [.seconds(2)])
    clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut(after: .seconds(5))) { try await task.value }
  }

  @Test func `A run stays on the actor of its caller`() async throws {
    let work = MainActorWork { _ in
      await Task { @MainActor in }.value
      return 5
    }
    let operation = work.timeout(.seconds(1))
    let clock = self.clock
    let value = try await Task { @MainActor in
      var context = OperationContext()
      context.use(clock)
      return try await OperationRunner(operation: operation, initialContext: context).run()
    }.value
    expect(value, equals: 5)
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `A run on the system's clock ends on time`() async {
    let script = IntScript(endsOnCancellation: false)
    let operation = script.operation().timeout(.milliseconds(5))
    await #expect(throws: OperationTimedOut(after: .milliseconds(5))) {
      try await OperationRunner(operation: operation).run()
    }
    expect(script.activeRunCount, equals: 1)
    if let run = try? await script.next() { run.succeed(1) }
  }

  @Test func `A modified query is a query, and its store keeps the error`() async throws {
    let script = IntScript()
    let store = OperationStore.detached(query: script.query().timeout(.seconds(2)).manualTime(self.clock))
    let task = Task.immediate { try await store.fetch() }
    _ = try await script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut.self) { try await task.value }
    #expect(store.error is OperationTimedOut && store.errorUpdateCount == 1 && !store.isLoading)
    try await script.noActiveRuns()
  }

  @Test func `Observers are notified of a timeout, and not of an end in time`() async throws {
    let notices = Log<OperationNotice>()
    let script = IntScript()
    script.enqueue(.value(1))
    let operation = script.query(path: ["slow"]).timeout(.seconds(2)).onNotice { notice, _ in notices.append(notice) }
    try await operation.run(on: self.clock)
    #expect(notices.all.isEmpty)
    let task = operation.begin(on: self.clock)
    _ = try await script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(2))
    await #expect(throws: OperationTimedOut.self) { try await task.value }
    let notice = try #require(notices.all.first)
    #expect(notices.all.count == 1 && notice.name == .timedOut && notice.path == ["slow"])
    expect(notice.attributes, equals: ["timeout.limit": .duration(.seconds(2))])
  }

  @Test func `The rules of modifiers are kept`() async throws {
    try await checkModifier { $0.timeout(.seconds(60)) }
    try await checkModifier { $0.deadline(after: .seconds(60)) }
    try await checkModifier { $0.deadline(.now + .seconds(3600)) }
  }

  @Test func `The error describes itself`() {
    expect(OperationTimedOut(after: .seconds(2)).description, equals: "The operation did not end within 2 s.")
    expect(
      OperationTimedOut(after: .microseconds(999_968)).description,
      equals: "The operation did not end within 1 s."
    )
    let past = OperationTimedOut(after: .zero)
    expect(past.description, equals: "The time of the operation was over before it began.")
  }
}
