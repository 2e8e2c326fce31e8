import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// Queries that no longer wait for a run when that run calls them.
@Suite(.bounded, .warningsAreIssues)
struct EndedWaitTests {
  private let caller = Box<IntStore?>(nil)
  /// Opened when the caller waits no longer.
  private let ended = Gate()
  /// Opened when the called run has joined the caller's, or was refused.
  private let joined = Gate()

  /// A query that fetches the caller's store once the caller waits no longer.
  private var called: some QueryRequest<Int, any Error> & Sendable {
    QueryOperation<Int, any Error>("called") { [caller, ended, joined] _ in
      try await ended.wait()
      defer { joined.open() }
      return try await caller.value?.fetch(handler: .opening(joined)) ?? 0
    }.deduplicated()
  }

  /// Fetches a query that waits for a call, and then until the called run has joined it.
  private func fetchCaller(_ call: @escaping @Sendable () async throws -> Void) async throws -> Int {
    let query = QueryOperation<Int, any Error>("caller") { [ended, joined] _ in
      try await call()
      ended.open()
      try await joined.wait()
      return 1
    }
    let store = IntStore.detached(query: query.deduplicated())
    self.caller.value = store
    defer { self.caller.value = nil }
    return try await withTimeLimit("the caller") { try await store.fetch() }
  }

  @Test func `A child task that has left a run does not wait for it`() async throws {
    let called = IntStore.detached(query: self.called)
    let fetch = Task.immediate { try await called.fetch() }
    let value = try await self.fetchCaller {
      try await withThrowingTaskGroup { group in
        let began = Gate()
        group.addTask { _ = try? await called.fetch(handler: .opening(began)) }
        try await began.wait()
        group.cancelAll()
      }
    }
    expect(value, equals: 1)
    try await expect(fetch.finished(), equals: 1)
  }

  @Test(arguments: [1, 2])
  func `A caller that an interceptor has answered before the run has ended does not wait for it`(
    _ interceptorCount: Int
  ) async throws {
    let impatient = Interceptor { call in
      if let answer = await call.proceed(within: .zero) { return answer }
      return if let answer = call.answer(0) { answer } else { await call.proceed() }
    }
    let called = IntStore.detached(
      query: self.called.context { context in
        context.callInterceptors.append(impatient)
        // The call goes on in a task of its own.
        if interceptorCount > 1 { context.callInterceptors.append(Interceptor { await $0.proceed() }) }
      }
    )
    let value = try await self.fetchCaller { try await expect(called.fetch(), equals: 0) }
    expect(value, equals: 1)
    await called.settled()
    expect(called.currentValue, equals: 1)
  }

  @Test(arguments: [1, 2])
  func `A call that has paused does not wait for its run`(_ interceptorCount: Int) async throws {
    let (ended, joined) = (self.ended, self.joined)
    let patient = Interceptor { call in
      if let answer = await call.proceed(within: .zero) { return answer }
      ended.open()
      try? await joined.wait()
      return if let answer = call.answer(0) { answer } else { await call.proceed() }
    }
    let called = IntStore.detached(
      query: self.called.context { context in
        context.callInterceptors.append(patient)
        if interceptorCount > 1 { context.callInterceptors.append(Interceptor { await $0.proceed() }) }
      }
    )
    let value = try await self.fetchCaller { try await expect(called.fetch(), equals: 0) }
    expect(value, equals: 1)
    await called.settled()
    expect(called.currentValue, equals: 1)
  }

  @Test func `A call that was refused as a cycle is no wait`() async throws {
    let (caller, ended, joined) = (self.caller, self.ended, self.joined)
    let called = Box<IntStore?>(nil)
    defer { called.value = nil }
    let query = QueryOperation<Int, any Error>("called") { _ in
      let store = caller.value
      async let early = store?.fetch() ?? 0
      try await ended.wait()
      defer { joined.open() }
      let late = try await store?.fetch(handler: .opening(joined)) ?? 0
      return try await early + late
    }
    let store = IntStore.detached(query: query.deduplicated())
    called.value = store
    let recorder = WarningRecorder()
    let values = try await recorder.recording {
      caller.value = IntStore.detached(
        query: QueryOperation<Int, any Error>("caller") { _ in
          await #expect(throws: OperationCycleError.self) { try await called.value?.fetch() }
          ended.open()
          try await joined.wait()
          return 1
        }.deduplicated()
      )
      defer { caller.value = nil }
      return try await withTimeLimit("the called query") { try await store.fetch() }
    }
    expect(values, equals: 2)
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test(arguments: [1, 2])
  func `A call that goes on after another wait is in the graph again`(_ interceptorCount: Int) async throws {
    let (caller, ended, joined) = (self.caller, self.ended, self.joined)
    let other = IntStore.detached(query: QueryOperation("other") { _ in 7 }.deduplicated())
    let called = IntStore.detached(
      query: QueryOperation<Int, any Error>("called") { _ in
        try await ended.wait()
        return try await caller.value?.fetch(handler: .opening(joined)) ?? 0
      }.deduplicated().context {
        $0.callInterceptors.append(
          Interceptor { call in
            if let answer = await call.proceed(within: .zero) { return answer }
            _ = try? await other.fetch()
            ended.open()
            try? await joined.wait()
            return await call.proceed()
          }
        )
        // The call goes on in a task of its own.
        if interceptorCount > 1 { $0.callInterceptors.append(Interceptor { await $0.proceed() }) }
      }
    )
    let store = IntStore.detached(
      query: QueryOperation<Int, any Error>("caller") { _ in try await called.fetch() }.deduplicated()
    )
    caller.value = store
    defer { caller.value = nil }
    let recorder = WarningRecorder()
    _ = await recorder.recording {
      await #expect(throws: OperationCycleError.self) {
        try await withTimeLimit("the cycle to fail") { try await store.fetch() }
      }
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    await called.settled()
  }
}

extension QueryEventHandler<IntState> {
  /// A handler that opens a gate when the fetch has joined a run, or has begun one.
  fileprivate static func opening(_ gate: Gate) -> QueryEventHandler {
    QueryEventHandler(onFetchingStarted: { _ in gate.open() })
  }
}
