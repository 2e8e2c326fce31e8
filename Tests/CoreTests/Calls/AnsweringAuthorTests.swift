import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Interceptors that a user writes with nothing but the core.
@Suite(.bounded, .warningsAreIssues) struct AnsweringAuthorTests {
  private let script = IntScript()
  private let clock = ManualClock()

  @Test func `Both keep the rules of interceptors`() async throws {
    try await checkStoreCallInterceptor(answeringAfter: .seconds(1)) { LastValue(patience: .seconds(1)) }
    try await checkStoreCallInterceptor { FailureMemory(.seconds(10)) }
  }

  // MARK: - The last value

  private func storeWithLastValue() -> IntStore {
    let store = IntStore.detached(
      query: self.script.query().servingLastValue(after: .seconds(1)).manualTime(self.clock)
    )
    store.currentValue = 1
    return store
  }

  @Test func `A caller gets the last value if its run is slow or fails`() async throws {
    let store = self.storeWithLastValue()
    let slow = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    try await expect(slow.finished(), equals: 1)
    run.succeed(2)
    await store.settled()
    self.script.enqueue(.error(Refused()), .value(3))
    try await expect(store.fetch(), equals: 2)
    #expect(store.error is Refused)
    try await expect(store.fetch(), equals: 3)
  }

  @Test func `A caller without a last value gets its run, and a cancelled one its cancellation`() async throws {
    let store = self.storeWithLastValue()
    store.resetState()
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await store.fetch() }
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(run.isCancelled)
  }

  // MARK: - Remembered failures

  @Test func `A caller gets a failure again for some time, without a run`() async throws {
    let store = IntStore.detached(
      query: self.script.query().remembersFailures(for: .seconds(10)).manualTime(self.clock)
    )
    let errors = Log<Refused?>()
    let handler = QueryEventHandler<IntState>(onResultReceived: { result, _ in
      if case .failure(let error) = result { errors.append(error as? Refused) }
    })
    self.script.enqueue(.error(Refused(code: 1)), .error(Refused(code: 2)), .value(3))
    await #expect(throws: Refused(code: 1)) { try await store.fetch() }
    self.clock.advance(by: .milliseconds(9_999))
    await #expect(throws: Refused(code: 1)) { try await store.fetch(handler: handler) }
    #expect(self.script.runCount == 1 && store.errorUpdateCount == 1 && errors.all == [Refused(code: 1)])
    self.clock.advance(by: .milliseconds(1))
    await #expect(throws: Refused(code: 2)) { try await store.fetch() }
    self.clock.advance(by: .seconds(10))
    try await expect(store.fetch(), equals: 3)
    expect(self.script.runCount, equals: 3)
  }

  @Test func `Both together: the failure is remembered, and the last value is served`() async throws {
    let store = IntStore.detached(
      query: self.script.query().remembersFailures(for: .seconds(10)).servingLastValue(after: .seconds(1))
        .manualTime(self.clock)
    )
    store.currentValue = 1
    self.script.enqueue(.error(Refused()))
    for _ in 1...3 { try await expect(store.fetch(), equals: 1) }
    expect(self.script.runCount, equals: 1)
    self.clock.advance(by: .seconds(10))
    let slow = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(1))
    try await expect(slow.finished(), equals: 1)
    run.succeed(2)
    await store.settled()
    #expect(store.currentValue == 2 && self.script.runCount == 2)
  }
}

// MARK: - What the user writes

extension StatefulOperationRequest {
  fileprivate func servingLastValue(after patience: Duration) -> ContextModifiedOperation<Self> {
    self.context { $0.callInterceptors.append(LastValue(patience: patience)) }
  }

  fileprivate func remembersFailures(for duration: Duration) -> ContextModifiedOperation<Self> {
    self.context { $0.callInterceptors.append(FailureMemory(duration)) }
  }
}

/// Answers with the last value if a run takes long or fails.
private final class LastValue: StoreCallInterceptor {
  private let patience: Duration

  init(patience: Duration) {
    self.patience = patience
  }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    guard case .run = call.demand else { return await call.proceed() }
    let answer = await call.proceed(within: self.patience)
    if let answer, answer.outcome.error == nil || answer.outcome.isCancellation { return answer }
    return if let last = call.answerWithState() { last } else { await call.proceed() }
  }
}

/// Answers with the last failure for some time, without a run.
private final class FailureMemory: StoreCallInterceptor {
  private let duration: Duration
  private let failure = Mutex<(error: any Error, end: Duration)?>(nil)

  init(_ duration: Duration) {
    self.duration = duration
  }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    let deadlines = call.context.operationDeadlines
    if let failure = self.failure.withLock({ $0 }), deadlines.elapsed < failure.end,
      let answer = call.answer(throwing: failure.error)
    {
      return answer
    }
    let answer = await call.proceed()
    if let error = answer.outcome.error, !answer.outcome.isCancellation {
      self.failure.withLock { $0 = (error, deadlines.elapsed + self.duration) }
    }
    return answer
  }
}
