import OperationBackoff
import OperationCore
import OperationFallback
import OperationFreshness
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// `.honoringFreshness(otherwise:jitter:using:)`, and what a body says.
@Suite(.bounded, .warningsAreIssues) struct HonoredFreshnessTests {
  private let clock = ManualClock()
  private let server = Server()

  private func store(otherwise: Duration? = nil) -> IntStore {
    .detached(query: self.server.query().honoringFreshness(otherwise: otherwise).manualTime(self.clock))
  }

  @Test func `The server decides how long each value is fresh`() async throws {
    let store = self.store()
    #expect(store.isStale)
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    try await store.fetch()
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    self.server.enqueue(2, ("Cache-Control", "max-age=10"), ("Age", "4"))
    try await store.fetch()
    self.clock.advance(by: .seconds(5))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
  }

  @Test(arguments: [("no-store", true), ("max-age=60", false)])
  func `A value that must not be kept stays in its store`(_ directives: String, _ stays: Bool) async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", directives), ("ETag", "\"a\""))
    try await store.fetch()
    #expect(store.valueStamp.staysInStore == stays && store.valueStamp.mayLeaveStore == !stays)
    self.server.enqueue(2, ("Cache-Control", "max-age=60"))
    try await store.fetch()
    #expect(store.valueStamp.mayLeaveStore && !store.isStale)
    expect(self.server.requests.all, equals: [[], stays ? [] : ["If-None-Match: \"a\""]])
  }

  @Test func `What a failed attempt has forbidden does not count`() async throws {
    let store = IntStore.detached(
      query: self.server.query().honoringFreshness().retry(limit: 1).manualTime(self.clock).backoff(.noBackoff)
    )
    self.server.refuse(("Cache-Control", "no-store"))
    self.server.enqueue(1)
    try await expect(store.fetch(), equals: 1)
    #expect(store.valueStamp.mayLeaveStore)
  }

  @Test func `A private value is fresh for nobody where the value is shared`() async throws {
    let bodies = [true, false].map { isHonored in
      let body = BodyQuery(path: ["private", isHonored]) { context, continuation in
        context.freshness = OperationHTTPFreshness(
          headerFields: ["Cache-Control": "private, max-age=600"],
          isShared: true
        )
        continuation.yield(1)
        return 2
      }
      return isHonored
        ? IntStore.detached(query: body.honoringFreshness(otherwise: .seconds(9)).manualTime(self.clock))
        : IntStore.detached(query: body.manualTime(self.clock))
    }
    for store in bodies {
      let stamps = Log<Bool>()
      try await store.fetch(
        handler: IntHandler(onResultReceived: { _, context in stamps.append(context.eventStamp.staysInStore) })
      )
      #expect(store.isStale)
      // A record that was made within the run hears of the next one.
      try await store.fetch()
      #expect(store.isStale && store.valueStamp.staysInStore)
      if store === bodies[0] { expect(stamps.all, equals: [true, true]) }
    }
  }

  @Test func `A value about which nothing was said is as fresh as otherwise`() async throws {
    let store = self.store(otherwise: .seconds(5))
    self.server.enqueue(1)
    try await store.fetch()
    self.clock.advance(by: .seconds(4))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    store.currentValue = 2
    #expect(!store.isStale)
    let strict = self.store()
    strict.currentValue = 1
    #expect(strict.isStale)
  }

  @Test func `A value that was set after a reset has nothing of the one before, also if the clock stands still`()
    async throws
  {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60"), ("ETag", "\"a\""))
    try await store.fetch()
    #expect(!store.isStale)
    store.resetState()
    store.currentValue = 2
    #expect(store.isStale)
    self.server.enqueue(3)
    try await store.fetch()
    expect(self.server.requests.all, equals: [[], []])
  }

  @Test func `What a failed attempt has said does not count`() async throws {
    let store = IntStore.detached(
      query: self.server.query().honoringFreshness().retry(limit: 1).manualTime(self.clock).backoff(.noBackoff)
    )
    self.server.refuse(("Cache-Control", "max-age=60"))
    self.server.enqueue(1)
    try await expect(store.fetch(), equals: 1)
    #expect(store.isStale)
    let fallen = IntStore.detached(
      query: self.server.query().honoringFreshness().fallback(9).manualTime(self.clock)
    )
    self.server.refuse(("Cache-Control", "max-age=60"))
    try await expect(fallen.fetch(), equals: 9)
    #expect(fallen.isStale)
  }

  @Test func `A yielded value is not fresh, and a rollback brings the earlier one back`()
    async throws
  {
    let gate = Gate()
    let isFirst = Box(true)
    let store = IntStore.detached(
      query: BodyQuery { context, continuation in
        if isFirst.replace(with: false) {
          context.freshness = OperationHTTPFreshness(lifetime: .seconds(60))
          return 1
        }
        context.freshness = OperationHTTPFreshness(lifetime: .seconds(0))
        continuation.yield(2)
        try await gate.wait()
        return 3
      }.honoringFreshness().manualTime(self.clock)
    )
    try await store.fetch()
    #expect(!store.isStale)
    let fetch = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    #expect(store.currentValue == 2 && store.isStale)
    fetch.cancel()
    _ = try? await fetch.value
    await store.settled()
    #expect(store.currentValue == 1 && !store.isStale)
  }

  @Test(arguments: [true, false])
  func `A value after a rollback has nothing of the one that was taken back, also if the clock stands still`(
    _ isSet: Bool
  ) async throws {
    let (gate, count, tags) = (Gate(), Counter(), Log<String?>())
    let store = IntStore.detached(
      query: BodyQuery { context, continuation in
        tags.append(context.validators?.entityTag)
        let number = count.increment()
        guard number == 2 else { return number }
        context.freshness = OperationHTTPFreshness(
          headerFields: [("Cache-Control", "max-age=60"), ("ETag", "\"b\"")]
        )
        continuation.yield(number)
        try await gate.wait()
        return number
      }.honoringFreshness().manualTime(self.clock)
    )
    try await store.fetch()
    let fetch = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    fetch.cancel()
    _ = try? await fetch.value
    await store.settled()
    expect(store.currentValue, equals: 1)
    if isSet { store.currentValue = 3 } else { try await store.fetch() }
    expect(store.currentValue, equals: 3)
    #expect(store.isStale)
    try await store.fetch()
    #expect(tags.all.allSatisfy { $0 == nil })
  }

  @Test func `The event of a value tells what was said about it`() async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60"), ("ETag", "\"a\""))
    let tags = Log<String?>()
    try await store.fetch(
      handler: IntHandler(onResultReceived: { _, context in tags.append(context.freshness?.validators?.entityTag) })
    )
    expect(tags.all, equals: ["\"a\""])
  }

  @Test func `Another operation that receives the context has its own freshness`() async throws {
    let other = self.server.query()
    let outer = IntStore.detached(
      query: BodyQuery { context, _ in
        try await OperationRunner(operation: other, initialContext: context).run()
      }.honoringFreshness().manualTime(self.clock)
    )
    self.server.enqueue(2, ("Cache-Control", "max-age=60"))
    _ = try await outer.fetch()
    #expect(outer.isStale)
  }

  @Test func `With stale-while-revalidate a stale value is read while a run refreshes it`() async throws {
    let gate = Gate()
    let isFirst = Box(true)
    let store = IntStore.detached(
      query: BodyQuery { context, _ in
        context.freshness = OperationHTTPFreshness(lifetime: .seconds(60), staleWhileRevalidate: .seconds(30))
        if isFirst.replace(with: false) { return 1 }
        try await gate.wait()
        return 2
      }.honoringFreshness().manualTime(self.clock)
    )
    try await store.fetch()
    self.clock.advance(by: .seconds(89))
    let reasons = Log<OperationServedStale.Reason?>()
    let handler = IntHandler(onResultReceived: { _, context in reasons.append(context.servedStale?.reason) })
    try await expect(store.fetch(handler: handler), equals: 1)
    #expect(reasons.all == [.revalidation] && store.isLoading)
    gate.open()
    await store.settled()
    expect(store.currentValue, equals: 2)
    self.clock.advance(by: .seconds(90))
    try await expect(store.fetch(), equals: 2)
    await store.settled()
    expect(store.valueUpdateCount, equals: 3)
  }

  @Test func `With stale-if-error a stale value is read if a run fails`() async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60, stale-if-error=30"))
    try await store.fetch()
    self.clock.advance(by: .seconds(89))
    self.server.refuse()
    try await expect(store.fetch(), equals: 1)
    self.clock.advance(by: .seconds(1))
    self.server.refuse()
    await #expect(throws: Refused.self) { try await store.fetch() }
  }

  // RFC 5861: from the time on at which the response became stale, which may be before it came.
  @Test(arguments: [true, false])
  func `The windows of a value that comes stale have begun before`(_ isRead: Bool) async throws {
    let store = self.store()
    let window = isRead ? "stale-while-revalidate" : "stale-if-error"
    self.server.enqueue(1, ("Cache-Control", "max-age=60, \(window)=50"), ("Age", "100"))
    try await store.fetch()
    #expect(store.isStale)
    self.clock.advance(by: .seconds(9))
    self.server.refuse()
    try await expect(store.fetch(), equals: 1)
    await store.settled()
    self.clock.advance(by: .seconds(1))
    self.server.refuse()
    await #expect(throws: Refused.self) { try await store.fetch() }
  }

  @Test func `A server that forbids stale use is obeyed once the value is stale`() async throws {
    let store = IntStore.detached(
      query: self.server.query().honoringFreshness().servesStale(softTimeout: .seconds(1), maximumAge: .seconds(600))
        .manualTime(self.clock)
    )
    self.server.enqueue(1, ("Cache-Control", "max-age=60, must-revalidate"))
    try await store.fetch()
    self.server.refuse()
    try await expect(store.fetch(), equals: 1)
    self.clock.advance(by: .seconds(60))
    self.server.refuse()
    await #expect(throws: Refused.self) { try await store.fetch() }
  }

  @Test func `A confirmed value stays, with a new date and the fields of both responses`() async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60"), ("ETag", "\"a\""))
    try await store.fetch()
    self.clock.advance(by: .seconds(100))
    let results = Log<Int?>()
    let subscription = store.subscribe(
      with: IntHandler(onResultReceived: { result, _ in results.append(try? result.get()) })
    )
    self.server.confirm()
    try await expect(store.fetch(), equals: 1)
    await store.settled()
    #expect(self.server.requests.all.contains(["If-None-Match: \"a\""]))
    #expect(store.valueUpdateCount == 1 && store.valueLastUpdatedAt == date(100) && !store.isStale)
    self.clock.advance(by: .seconds(59))
    #expect(!store.isStale)
    self.clock.advance(by: .seconds(1))
    #expect(store.isStale)
    self.server.confirm(("Cache-Control", "max-age=5"))
    try await store.fetch()
    self.clock.advance(by: .seconds(5))
    #expect(store.isStale && store.valueUpdateCount == 1)
    subscription.cancel()
  }

  @Test func `A confirmation of a value that was replaced meanwhile sets it as usual`() async throws {
    let gate = Gate()
    let isFirst = Box(true)
    let store = IntStore.detached(
      query: BodyQuery { context, _ in
        context.freshness = OperationHTTPFreshness(headerFields: [("ETag", "\"a\"")])
        if isFirst.replace(with: false) { return 1 }
        expect(context.validators?.entityTag, equals: "\"a\"")
        try await gate.wait()
        return try #require(context.revalidatedValue(as: Int.self))
      }.honoringFreshness(otherwise: .seconds(60)).manualTime(self.clock)
    )
    try await store.fetch()
    let fetch = Task { try await store.fetch() }
    try await gate.arrivals(count: 1)
    store.currentValue = 5
    gate.open()
    try await expect(fetch.value, equals: 1)
    #expect(store.currentValue == 1 && store.valueUpdateCount == 3)
  }

  @Test func `Without validators there is nothing to confirm`() async throws {
    let store = self.store()
    self.server.enqueue(1, ("Cache-Control", "max-age=60"))
    self.server.enqueue(2, ("Cache-Control", "no-store"), ("ETag", "\"a\""))
    self.server.enqueue(3)
    for _ in 1...3 { try await store.fetch() }
    expect(self.server.requests.all, equals: [[], [], []])
    #expect(OperationContext().validators == nil && OperationContext().revalidatedValue(as: Int.self) == nil)
  }
}

/// Reads with a maximal age.
@Suite(.bounded, .warningsAreIssues) struct MaximumAgeTests {
  private let clock = ManualClock()
  private let script = IntScript()

  @Test func `A value that is young enough is read, and otherwise there is one run`() async throws {
    let store = IntStore.detached(query: self.script.query().manualTime(self.clock))
    store.currentValue = 1
    self.clock.advance(by: .seconds(10))
    try await expect(store.value(maximumAge: .seconds(10)), equals: 1)
    expect(self.script.runCount, equals: 0)
    let first = Task { try await store.value(maximumAge: .seconds(9)) }
    let run = try await self.script.next()
    let second = Task.immediate { try await store.value(maximumAge: .zero) }
    run.succeed(2)
    try await expect(first.value, equals: 2)
    try await expect(second.value, equals: 2)
    expect(self.script.runCount, equals: 1)
    self.clock.setDate(date(-1))
    self.script.enqueue(.value(3))
    try await expect(store.value(maximumAge: .seconds(100)), equals: 3)
    _ = try await expectWarning(.invalidArgument) { try await store.value(maximumAge: .seconds(-1)) }
  }

  @Test func `A reader who names an age gets no older value, whatever is served to others`() async throws {
    let store = IntStore.detached(
      query: self.script.query().servesStale(softTimeout: .zero, maximumAge: .seconds(600)).manualTime(self.clock)
    )
    store.currentValue = 1
    self.clock.advance(by: .seconds(10))
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused.self) { try await store.value(maximumAge: .seconds(5)) }
  }

  @Test func `An invalidated value is not read, and a default value never`() async throws {
    let client = OperationClient.keeping
    let query = self.script.query(path: ["aged"]).manualTime(self.clock).defaultValue(7)
    self.script.enqueue(.value(1), .value(2))
    try await expect(client.value(of: query, maximumAge: .seconds(60)), equals: 1)
    try await expect(client.value(of: query, maximumAge: .seconds(60)), equals: 1)
    client.invalidate()
    try await expect(client.value(of: query, maximumAge: .seconds(60)), equals: 2)
  }

  @Test func `The age on arrival counts`() async throws {
    let server = Server()
    let store = IntStore.detached(query: server.query().honoringFreshness().manualTime(self.clock))
    server.enqueue(1, ("Cache-Control", "max-age=100"), ("Age", "50"))
    server.enqueue(2)
    try await store.fetch()
    try await expect(store.value(maximumAge: .seconds(50)), equals: 1)
    try await expect(store.value(maximumAge: .seconds(49)), equals: 2)
  }
}
