import CoreFixtures
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// Which calls interceptors get, and what callers get from them.
@Suite(.bounded, .warningsAreIssues) struct CallInterceptorTests {
  private let script = IntScript()
  private let clock = ManualClock()
  private let log = Log<String>()

  /// A query of a client, whose calls are logged with what they ask for.
  private func loggedQuery(_ path: OperationPath = ["logged"]) -> some QueryRequest<Int, any Error> {
    self.script.query(path: path).stale(after: .seconds(60)).manualTime(self.clock)
      .intercepted { [log] call in
        log.append("\(call.demand), \(call.needsRun ? "a run" : "the state")")
        return await call.proceed()
      }
  }

  // MARK: - Which calls

  @Test func `Calls that wait for a run come through it, with what they ask for`() async throws {
    let client = OperationClient()
    let store = client.store(for: self.loggedQuery())
    self.script.enqueue((1...5).map { .value($0) })
    try await expect(store.fetch(), equals: 1)
    try await expect(store.run(), equals: 2)
    try await expect(client.ensureValue(for: self.loggedQuery()), equals: 2)
    self.clock.advance(by: .seconds(60))
    try await expect(client.ensureValue(for: self.loggedQuery()), equals: 3)
    self.clock.advance(by: .seconds(60))
    await client.prefetch(for: self.loggedQuery())
    expect(store.currentValue, equals: 4)
    try await expect(store.value(for: .notOlder(than: .seconds(5)), inState: nil), equals: 5)
    try await expect(store.value(for: .notOlder(than: .seconds(5)), inState: 9), equals: 9)
    let age = "notOlder(than: 5.0 seconds)"
    expect(
      self.log.all,
      equals: [
        "run, a run", "run, a run", "value, the state", "value, a run", "refresh, a run", "\(age), a run",
        "\(age), the state",
      ]
    )
  }

  @Test func `Tasks, subscribers and runs behind do not come through it`() async throws {
    let store = OperationClient().store(for: self.loggedQuery().enableAutomaticRunning(onlyWhen: .always(true)))
    self.script.enqueue(.value(1), .value(2), .value(3))
    try await expect(store.fetchTask().runIfNeeded(), equals: 1)
    OpaqueOperationStore(erasing: store).reference.refreshBehind(because: .refreshBehind)
    await store.settled()
    self.clock.advance(by: .seconds(60))
    let subscription = store.subscribe(with: OperationEventHandler())
    await store.settled()
    subscription.cancel()
    expect(store.currentValue, equals: 3)
    #expect(self.log.all.isEmpty)
  }

  @Test func `It gets a call once, and not each attempt`() async throws {
    let calls = Counter()
    let store = IntStore.detached(
      query: self.script.query().tryingAgain(times: 2).intercepted { call in
        calls.increment()
        return await call.proceed()
      }
    )
    self.script.enqueue(.error(Refused()), .error(Refused()), .value(1))
    try await expect(store.fetch(), equals: 1)
    #expect(calls.value == 1 && self.script.runCount == 3)
  }

  @Test func `A call in the body of another operation comes through it`() async throws {
    let store = IntStore.detached(query: self.loggedQuery())
    self.script.enqueue(.value(1))
    let outer = OperationStore.detached(
      query: QueryOperation<Int, any Error>("outer") { _ in try await store.fetch() + 1 }
    )
    try await expect(outer.fetch(), equals: 2)
    expect(self.log.all, equals: ["run, a run"])
  }

  @Test func `Other stores and runners do not take interceptors from a context`() async throws {
    let store = IntStore.detached(query: self.loggedQuery())
    self.script.enqueue(.value(1), .value(2))
    let other = IntStore.detached(query: self.script.query(), initialContext: store.context)
    try await expect(other.fetch(using: store.context), equals: 1)
    try await expect(OperationRunner(operation: self.script.query(), initialContext: store.context).run(), equals: 2)
    #expect(self.log.all.isEmpty)
  }

  @Test func `A context that the store gets may have other interceptors, or none`() async throws {
    let store = IntStore.detached(query: self.script.query())
    self.script.enqueue(.value(1), .value(2))
    store.context.callInterceptors.append(
      Intercepting { [log] call in
        log.append("intercepted")
        return await call.proceed()
      }
    )
    try await expect(store.fetch(), equals: 1)
    store.context = OperationContext()
    try await expect(store.fetch(), equals: 2)
    expect(self.log.all, equals: ["intercepted"])
  }

  @Test func `A value that is invalidated while an interceptor waits is not returned`() async throws {
    let client = OperationClient()
    let query = self.script.query(path: ["waiting"]).stale(after: .seconds(60)).manualTime(self.clock)
      .intercepted { call in
        // As one that learns of an invalidation while it waits.
        if !call.needsRun { call.context.operationClient?.invalidate(matching: ["waiting"], isolation: nil) }
        return await call.proceed()
      }
    self.script.enqueue(.value(1), .value(2))
    try await expect(client.ensureValue(for: query), equals: 1)
    try await expect(client.ensureValue(for: query), equals: 2)
    expect(self.script.runCount, equals: 2)
  }

  // MARK: - Answers

  @Test func `An answer is no run, and the handler of its call hears it with its entries`() async throws {
    let store = IntStore.detached(
      query: self.script.query().intercepted { call in
        var entries = OperationContext()
        entries[NumberKey.self] = 5
        return if let answer = call.answer(7, entries: entries) { answer } else { await call.proceed() }
      }
    )
    let subscriber = IntRecorder()
    let subscription = store.subscribe(with: subscriber.handler)
    let handler = QueryEventHandler<IntState>(onResultReceived: { [log] result, context in
      log.append("\((try? result.get()) ?? 0) with \(context[NumberKey.self])")
    })
    try await expect(store.fetch(handler: handler), equals: 7)
    expect(self.log.all, equals: ["7 with 5"])
    #expect(self.script.runCount == 0 && store.currentValue == nil && store.valueUpdateCount == 0)
    #expect(subscriber.values.isEmpty)
    subscription.cancel()
  }

  @Test func `The handler of a call hears its run, and then the answer`() async throws {
    let store = IntStore.detached(
      query: self.script.query().intercepted { call in
        let answer = await call.proceed()
        return call.answer((answer.outcome.value(as: Int.self) ?? 0) * 10) ?? answer
      }
    )
    self.script.enqueue(.yield(.success(1), then: .value(2)))
    let handler = QueryEventHandler<IntState>(onResultReceived: { [log] result, _ in
      log.append("\((try? result.get()) ?? 0)")
    })
    try await expect(store.fetch(handler: handler), equals: 20)
    #expect(self.log.all == ["1", "2", "20"] && store.currentValue == 2)
  }

  @Test func `Answers have the types of the runs`() async throws {
    let store = OperationStore.detached(
      query: QueryOperation<Int?, Refused>("typed") { _ throws(Refused) in throw Refused(code: 9) }
        .intercepted { [log] call in
          let answers = [
            call.answer("text"), call.answer(1), call.answer(Int?.none), call.answer(throwing: CancellationError()),
            call.answer(throwing: Refused(code: 3)), call.answerWithState(),
          ]
          log.append(answers.map { $0 == nil ? "none" : "an answer" }.joined(separator: ", "))
          let values = answers.map { $0?.outcome.value(as: Int?.self) }
          expect(values, equals: [nil, 1, .some(nil), nil, nil, nil])
          return if let answer = answers[4] { answer } else { await call.proceed() }
        }
    )
    await #expect(throws: Refused(code: 3)) { try await store.fetch() }
    expect(self.log.all, equals: ["none, an answer, an answer, none, an answer, none"])
  }

  @Test func `An answer to a call of another store is reported, and the caller gets its run`() async throws {
    let kept = Box<StoreCallAnswer?>(nil)
    let texts = OperationStore.detached(
      query: QueryOperation<String, any Error>("texts") { _ in "text" }.intercepted { call in
        kept.value = call.answer("text")
        return await call.proceed()
      }
    )
    let store = IntStore.detached(
      query: self.script.query().intercepted { call in
        if let answer = kept.value { answer } else { await call.proceed() }
      }
    )
    _ = try await texts.fetch()
    self.script.enqueue(.value(1))
    let recorder = WarningRecorder()
    let value = try await recorder.recording { try await store.fetch() }
    #expect(value == 1 && recorder.warnings.map(\.code) == [.stateMismatch])
  }

  @Test func `While an invalidation is unanswered, there is no state to answer with`() async throws {
    let client = OperationClient()
    let query = self.script.query(path: ["state"]).intercepted { [log] call in
      log.append(call.state == nil ? "none" : "a state")
      return if let answer = call.answerWithState() { answer } else { await call.proceed() }
    }
    let store = client.store(for: query)
    store.currentValue = 1
    try await expect(store.fetch(), equals: 1)
    client.invalidate(matching: ["state"])
    self.script.enqueue(.value(2))
    try await expect(store.fetch(), equals: 2)
    try await expect(store.fetch(), equals: 2)
    #expect(self.log.all == ["a state", "none", "a state"] && self.script.runCount == 1)
  }

  @Test func `The state to answer with has no optimistic updates, and no default value`() async throws {
    let store = OperationStore.detached(
      query: self.script.query().defaultValue(0).intercepted { call in
        if let answer = call.answerWithState() { answer } else { await call.proceed() }
      }
    )
    self.script.enqueue(.value(1))
    try await expect(store.fetch(), equals: 1)
    let layer = StateLayerIdentifier()
    let layerable = OpaqueOperationStore(erasing: store)
    #expect(layerable.addLayer(layer, over: DefaultOperationState<IntState>.self) { $0 = 5 })
    expect(store.currentValue, equals: 5)
    try await expect(store.fetch(), equals: 1)
    layerable.removeLayer(layer)
  }

  @Test func `A run behind an answer has its cause, and others share it`() async throws {
    let causes = Log<String>()
    let store = IntStore.detached(
      query: self.script.query().intercepted { call in
        let run = call.proceedBehind(cause: .earlyRefresh)
        causes.append("\(run?.operationRunCause, default: "none")")
        return if let answer = call.answer(1) { answer } else { await call.proceed() }
      }
    )
    for _ in 1...3 { try await expect(store.fetch(), equals: 1) }
    let run = try await self.script.next()
    run.succeed(2)
    await store.settled()
    expect(causes.all, equals: Array(repeating: "an early refresh", count: 3))
    #expect(self.script.runCount == 1 && store.currentValue == 2)
  }

  @Test func `Notices of a call are in the explanations of its store, and of no run`() async throws {
    let notices = NoticeLog()
    let store = IntStore.detached(
      query: self.script.query().intercepted { call in
        call.send(OperationNotice(OperationNotice.Name("call.answered")))
        return if let answer = call.answer(1) { answer } else { await call.proceed() }
      }
      .context { $0.operationNoticeObservers.append(notices) }
    )
    _ = store.explain()
    try await store.fetch()
    expect(notices.descriptions, equals: ["call.answered"])
    expect(store.explain().notices.map(\.name), equals: ["call.answered"])
  }

  // MARK: - Misuse

  @Test func `A call is passed on once at a time, and not after its answer`() async {
    await #expect(processExitsWith: .failure) {
      let store = IntStore.detached(
        query: IntScript().query().intercepted { call in
          async let first = call.proceed()
          async let second = call.proceed()
          return await (first, second).0
        }
      )
      _ = try? await store.fetch()
    }
    await #expect(processExitsWith: .failure) {
      let kept = Box<StoreCall?>(nil)
      let store = IntStore.detached(
        query: IntScript(default: .value(1)).query().intercepted { call in
          kept.value = call
          return await call.proceed()
        }
      )
      _ = try? await store.fetch()
      _ = await kept.value?.proceed()
    }
  }
}
