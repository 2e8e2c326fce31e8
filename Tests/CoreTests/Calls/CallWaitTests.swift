import CoreFixtures
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// How calls wait: for some time, in several interceptors, and after a cancellation.
@Suite(.bounded, .warningsAreIssues) struct CallWaitTests {
  private let script = IntScript()
  private let clock = ManualClock()
  private let log = Log<String>()

  /// A store with the value 1, whose callers get it after a second.
  private func patientStore(isShared: Bool = true, seconds: Double = 1) -> IntStore {
    let query = self.script.query().manualTime(self.clock).intercepted { call in
      if let answer = await call.proceed(within: .seconds(seconds)) { return answer }
      return if let last = call.answerWithState() { last } else { await call.proceed() }
    }
    let store = isShared ? IntStore.detached(query: query.sharingRuns()) : IntStore.detached(query: query)
    store.currentValue = 1
    return store
  }

  // MARK: - Again

  @Test func `Passed on again, a call goes on with its wait`() async throws {
    let store = IntStore.detached(
      query: self.script.query().manualTime(self.clock).intercepted { [log] call in
        for _ in 1...2 {
          let answer = await call.proceed(within: .seconds(1))
          log.append(answer.map { text($0.outcome) } ?? "none")
        }
        for _ in 1...2 { log.append(text(await call.proceed().outcome)) }
        return await call.proceed()
      }
    )
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    for _ in 1...2 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(1))
    }
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
    expect(self.log.all, equals: ["none", "none", "2", "2"])
    #expect(self.script.runCount == 1 && self.clock.sleeperCount() == 0)
  }

  @Test func `Without patience, a call has an answer only if its run ends at once`() async throws {
    let store = self.patientStore(seconds: 0)
    self.script.enqueue(.value(2), .suspend)
    try await expect(store.fetch(), equals: 2)
    try await expect(store.fetch(), equals: 2)
    try await self.script.next().succeed(3)
    await store.settled()
    #expect(store.currentValue == 3 && self.clock.sleeperCount() == 0)
  }

  @Test func `The context of the run is known while it goes on`() async throws {
    let store = IntStore.detached(
      query: self.script.query().manualTime(self.clock).intercepted { [log] call in
        log.append(call.runContext == nil ? "none" : "a run")
        _ = await call.proceed(within: .zero)
        log.append(call.runContext?.operationRunningTaskIdentifier == nil ? "none" : "a run")
        let answer = await call.proceed()
        log.append(call.runContext == nil ? "none" : "a run")
        return answer
      }
    )
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(2)
    try await expect(fetch.finished(), equals: 2)
    expect(self.log.all, equals: ["none", "a run", "none"])
  }

  // MARK: - Owners

  @Test(arguments: [false, true])
  func `A run goes on to the state when its only caller was answered`(isShared: Bool) async throws {
    let store = self.patientStore(isShared: isShared)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    try await expect(fetch.finished(), equals: 1)
    #expect(!run.isCancelled && store.isLoading)
    run.succeed(2)
    await store.settled()
    expect(store.currentValue, equals: 2)
  }

  @Test func `A caller is an owner until its interceptor returns`() async throws {
    let gate = Gate()
    let store = IntStore.detached(
      query: self.script.query().sharingRuns().manualTime(self.clock).intercepted { call in
        if let answer = await call.proceed(within: .seconds(1)) { return answer }
        try? await gate.wait()
        return await call.proceed()
      }
    )
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    try await gate.arrivals(count: 1)
    // Another caller comes and leaves, and the first one still owns the run.
    let second = Task.immediate { try await store.fetch() }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.finished() }
    #expect(!run.isCancelled)
    gate.open()
    run.succeed(2)
    try await expect(first.finished(), equals: 2)
    expect(self.script.runCount, equals: 1)
  }

  @Test func `Each caller of a run has its own patience, and counts as one that has joined`() async throws {
    let client = OperationClient()
    let query = self.script.query(path: ["joined"]).sharingRuns().manualTime(self.clock).intercepted { call in
      let isPatient = call.context[NumberKey.self] == 1
      if let answer = await call.proceed(within: .seconds(isPatient ? 5 : 1)) { return answer }
      return if let last = call.answerWithState() { last } else { await call.proceed() }
    }
    let store = client.store(for: query)
    store.currentValue = 1
    var patient = OperationContext()
    patient[NumberKey.self] = 1
    let first = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    let second = Task.immediate { [patient] in try await store.fetch(using: patient) }
    expect(store.explain().runs.map(\.joinedCallers), equals: [1])
    self.clock.advance(by: .seconds(1))
    try await expect(first.finished(), equals: 1)
    expect(store.explain().runs.map(\.joinedCallers), equals: [1])
    run.succeed(2)
    try await expect(second.finished(), equals: 2)
    expect(self.script.runCount, equals: 1)
  }

  // MARK: - Cancellation

  @Test func `The last caller to be cancelled cancels the run, also after it has waited in vain`() async throws {
    let gate = Gate()
    let store = IntStore.detached(
      query: self.script.query().sharingRuns().manualTime(self.clock).intercepted { call in
        _ = await call.proceed(within: .seconds(1))
        try? await gate.wait()
        return if let answer = call.answer(7) { answer } else { await call.proceed() }
      }
    )
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    try await gate.arrivals(count: 1)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    try await run.cancelled()
    await store.settled()
    #expect(store.currentValue == nil && store.error == nil)
  }

  @Test func `An answer hides no cancellation, and a cancelled caller starts no run of its own`() async throws {
    let store = IntStore.detached(
      query: self.script.query().intercepted { call in
        if let answer = call.answer(7) { answer } else { await call.proceed() }
      }
    )
    let handler = QueryEventHandler<IntState>(onResultReceived: { [log] result, _ in log.append("\(result)") })
    let fetch = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.fetch(handler: handler)
    }
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(self.script.runCount == 0 && self.log.all.isEmpty)
  }

  @Test func `A cancelled run is told from a failure, whatever its error`() async throws {
    let script = IntScript(endsOnCancellation: false)
    let store = IntStore.detached(
      query: script.query().intercepted { [log] call in
        let answer = await call.proceed()
        log.append(answer.outcome.isCancellation ? "cancelled" : "failed")
        return call.answer(7) ?? answer
      }
    )
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    fetch.cancel()
    try await run.cancelled()
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.finished() }
    expect(self.log.all, equals: ["cancelled"])
  }

  @Test func `A run that was cancelled for all ends a wait that begins later`() async throws {
    let (gate, client, script) = (Gate(), OperationClient(), IntScript(endsOnCancellation: false))
    let query = script.query(path: ["all"]).sharingRuns().manualTime(self.clock).intercepted { call in
      if let answer = await call.proceed(within: .zero) { return answer }
      try? await gate.wait()
      return await call.proceed()
    }
    let store = client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    try await gate.arrivals(count: 1)
    let cancellation = Task.immediate { await client.cancel(matching: ["all"]) }
    try await run.cancelled()
    gate.open()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    run.succeed(1)
    try await cancellation.finished()
  }

  // MARK: - Several interceptors

  private func noted<Query: QueryRequest<Int, any Error>>(
    _ name: String,
    _ query: Query
  ) -> some QueryRequest<Int, any Error> {
    query.intercepted { [log] call in
      log.append("\(name) begins")
      let answer = await call.proceed()
      log.append("\(name) ends")
      return answer
    }
  }

  @Test func `The later one is outside`() async throws {
    self.script.enqueue(.value(1))
    let store = IntStore.detached(query: self.noted("outer", self.noted("inner", self.script.query())))
    try await expect(store.fetch(), equals: 1)
    expect(self.log.all, equals: ["outer begins", "inner begins", "inner ends", "outer ends"])
  }

  /// A store with an interceptor that is passed on within a second from outside.
  private func nestedStore(_ inner: @escaping Intercepting.Answer) -> IntStore {
    let query = self.script.query().sharingRuns().intercepted(inner).intercepted { [log] call in
      if let answer = await call.proceed(within: .seconds(1)) { return answer }
      log.append("waits again")
      return await call.proceed()
    }
    return .detached(query: query.manualTime(self.clock))
  }

  @Test func `An interceptor may wait for another one for some time, and wait again`() async throws {
    let store = self.nestedStore { await $0.proceed() }
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.clock.advance(by: .milliseconds(999))
    #expect(self.log.all.isEmpty)
    self.clock.advance(by: .milliseconds(1))
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
    #expect(self.script.runCount == 1 && self.clock.sleeperCount() == 0)
    let quick = Task.immediate { try await store.fetch() }
    try await self.script.next().succeed(3)
    try await expect(quick.finished(), equals: 3)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A cancellation reaches an interceptor in a task of its own`() async throws {
    let store = self.nestedStore { await $0.proceed() }
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    fetch.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(self.log.all.isEmpty)
  }

  @Test func `An interceptor that is left goes on, and its run to the state`() async throws {
    let query = self.script.query().sharingRuns().intercepted { await $0.proceed() }.intercepted { call in
      if let answer = await call.proceed(within: .seconds(1)) { return answer }
      return if let answer = call.answer(7) { answer } else { await call.proceed() }
    }
    let store = IntStore.detached(query: query.manualTime(self.clock))
    let handler = QueryEventHandler<IntState>(onResultReceived: { [log] result, _ in
      log.append("\((try? result.get()) ?? 0)")
    })
    let fetch = Task.immediate { try await store.fetch(handler: handler) }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    try await expect(fetch.finished(), equals: 7)
    run.succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && self.log.all == ["7"])
  }

  @Test func `A run that an interceptor begins after its call was answered has no handler`() async throws {
    let gate = Gate()
    let query = self.script.query().sharingRuns()
      .intercepted { call in
        try? await gate.wait()
        return await call.proceed()
      }
      .intercepted { call in
        if let answer = await call.proceed(within: .zero) { return answer }
        return if let answer = call.answer(7) { answer } else { await call.proceed() }
      }
    let store = IntStore.detached(query: query.manualTime(self.clock))
    let handler = QueryEventHandler<IntState>(onResultReceived: { [log] result, _ in
      log.append("\((try? result.get()) ?? 0)")
    })
    try await expect(store.fetch(handler: handler), equals: 7)
    gate.open()
    try await self.script.next().succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && self.log.all == ["7"])
  }

  // MARK: - Cycles

  /// A query that fetches its own store.
  private func recursiveStore(_ answer: @escaping Intercepting.Answer, inside: Bool) -> IntStore {
    let itself = Box<IntStore?>(nil)
    let query = QueryOperation<Int, any Error>("recursive") { _ in try await itself.value?.fetch() ?? 0 }.sharingRuns()
    let store =
      inside
      ? IntStore.detached(query: query.intercepted { await $0.proceed() }.intercepted(answer))
      : IntStore.detached(query: query.intercepted(answer))
    itself.value = store
    return store
  }

  @Test(arguments: [false, true])
  func `A cycle is found when the call would join a run`(isApart: Bool) async throws {
    let store = self.recursiveStore(
      { call in
        _ = await call.proceed(within: .seconds(3600))
        return await call.proceed()
      },
      inside: isApart
    )
    let recorder = WarningRecorder()
    _ = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("a cycle to fail") { try await store.fetch() }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  // MARK: - Lifetimes

  @Test func `A store with calls that were answered is released`() async throws {
    weak var released: IntStore?
    do {
      let store = self.patientStore(seconds: 0)
      released = store
      try await expect(store.fetch(), equals: 1)
      try await self.script.next().succeed(2)
      await store.settled()
    }
    #expect(released == nil)
  }

  @Test func `A thousand callers of one run are answered`() async throws {
    let store = self.patientStore()
    let fetches = (1...1_000).map { _ in Task.immediate { try await store.fetch() } }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    for fetch in fetches { try await expect(fetch.value, equals: 1) }
    run.succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && self.script.runCount == 1 && self.clock.sleeperCount() == 0)
  }
}
