import OperationBackoff
import OperationCore
import OperationLimits
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A search whose path changes with what is typed, on manual time.
@Suite(.bounded, .warningsAreIssues) struct PacingTests {
  private static let count = Atomic(0)

  private let clock = ManualClock()
  /// Tells the searches of one test from those of another.
  private let number = Self.count.add(1, ordering: .relaxed).newValue
  /// The texts with which the server was asked.
  private let asked = Log<String>()

  private func query(_ text: String) -> QueryOperation<String, any Error> {
    QueryOperation("search", self.number, text) { [asked] _ in
      asked.append(text)
      return text.uppercased()
    }
  }

  private func debounced(_ text: String, leading: Bool = false) -> OperationStore<QueryState<String, any Error>> {
    OperationStore.detached(
      query: self.query(text).debounced(for: .milliseconds(300), leading: leading).manualTime(self.clock)
    )
  }

  private func throttled(_ text: String) -> OperationStore<QueryState<String, any Error>> {
    OperationStore.detached(query: self.query(text).throttled(for: .seconds(1)).manualTime(self.clock))
  }

  private func fetch(_ store: OperationStore<QueryState<String, any Error>>) -> Task<String, any Error> {
    Task.immediate { try await store.fetch() }
  }

  private func expectCancellation(_ task: Task<String, any Error>, _ location: SourceLocation = #_sourceLocation) async
  {
    await #expect(throws: CancellationError.self, sourceLocation: location) { try await task.finished() }
  }

  @Test func `Pacing keeps the rules of modifiers`() async throws {
    try await checkModifier { $0.debounced(for: .zero) }
    try await checkModifier { $0.throttled(for: .zero) }
  }

  // MARK: - Debouncing

  @Test func `Of the letters that are typed, only the last text is sent`() async throws {
    var calls: [Task<String, any Error>] = []
    for text in ["s", "sw", "swi"] {
      calls.append(self.fetch(self.debounced(text)))
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .milliseconds(200))
    }
    #expect(self.asked.all.isEmpty)
    self.clock.advance(by: .milliseconds(100))
    try await expect(calls[2].finished(), equals: "SWI")
    for call in calls.prefix(2) { await self.expectCancellation(call) }
    #expect(self.asked.all == ["swi"] && self.clock.sleeperCount() == 0)
  }

  @Test func `A store that gives way keeps its value, and has no error`() async throws {
    let (former, store) = (self.debounced("a"), self.debounced("ab"))
    former.currentValue = "KEPT"
    let given = self.fetch(former)
    #expect(former.isLoading)
    let call = self.fetch(store)
    await self.expectCancellation(given)
    #expect(former.currentValue == "KEPT" && former.error == nil && !former.isLoading)
    self.clock.advance(by: .milliseconds(300))
    try await expect(call.finished(), equals: "AB")
  }

  @Test func `A run under way gives way to another path, and not to its own`() async throws {
    let gate = Gate()
    let slow = QueryOperation<String, any Error>("search", self.number, "slow") { [asked] _ in
      asked.append("slow")
      try await gate.wait()
      return "SLOW"
    }
    let paced = slow.debounced(for: .milliseconds(300)).manualTime(self.clock)
    let store = OperationStore.detached(query: paced)
    store.currentValue = "KEPT"
    var calls: [Task<String, any Error>] = []
    for count in 1...2 {
      calls.append(self.fetch(store))
      self.clock.advance(by: .milliseconds(300))
      try await gate.arrivals(count: count)
    }
    #expect(store.isLoading)
    let other = self.fetch(self.debounced("other"))
    await self.expectCancellation(calls[1])
    await self.expectCancellation(calls[0])
    #expect(store.currentValue == "KEPT" && store.error == nil)
    self.clock.advance(by: .milliseconds(300))
    try await expect(other.finished(), equals: "OTHER")
  }

  @Test func `With a leading call, the first begins at once, and the last after the pause`() async throws {
    try await expect(self.fetch(self.debounced("a", leading: true)).finished(), equals: "A")
    let given = self.fetch(self.debounced("ab", leading: true))
    self.clock.advance(by: .milliseconds(200))
    let last = self.fetch(self.debounced("abc", leading: true))
    await self.expectCancellation(given)
    self.clock.advance(by: .milliseconds(299))
    expect(self.asked.all, equals: ["a"])
    self.clock.advance(by: .milliseconds(1))
    try await expect(last.finished(), equals: "ABC")
    self.clock.advance(by: .milliseconds(300))
    try await expect(self.fetch(self.debounced("b", leading: true)).finished(), equals: "B")
  }

  @Test func `A call that is cancelled while it waits leaves nothing behind`() async throws {
    let call = self.fetch(self.debounced("a"))
    expect(self.clock.sleeperCount(), equals: 1)
    call.cancel()
    await self.expectCancellation(call)
    #expect(self.clock.sleeperCount() == 0 && self.asked.all.isEmpty)
  }

  @Test func `Subscribers wait, refreshes behind a read do not`() async throws {
    let query = self.query("a").debounced(for: .milliseconds(300)).manualTime(self.clock)
    let store = OperationStore.detached(
      query: query.staleWhenNoValue().enableAutomaticRunning(onlyWhen: .always(true))
    )
    let subscription = store.subscribe { _ in }
    defer { subscription.cancel() }
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .milliseconds(300))
    await store.settled()
    expect(self.asked.all, equals: ["a"])
    let other = self.fetch(self.debounced("b"))
    var context = OperationContext()
    context.operationRunCause = .refreshBehind
    try await expect(store.fetch(using: context), equals: "A")
    self.clock.advance(by: .milliseconds(300))
    try await expect(other.finished(), equals: "B")
  }

  @Test func `Another attempt of a retry does not wait again`() async throws {
    let script = OperationScript<Int, any Error>()
    script.enqueue(.error(Refused()), .value(7))
    let query = script.query().debounced(for: .milliseconds(300)).retry(limit: 1).backoff(.noBackoff)
    // In a client, as stores without one share the group of the path.
    let client = OperationClient()
    let store = client.store(for: query.manualTime(self.clock))
    let call = Task.immediate { try await store.fetch() }
    self.clock.advance(by: .milliseconds(300))
    try await expect(call.finished(), equals: 7)
    expect(script.runCount, equals: 2)
  }

  // MARK: - Throttling

  @Test func `One run begins in each period: the first at once, and the newest at its end`() async throws {
    try await expect(self.fetch(self.throttled("1")).finished(), equals: "1")
    let given = self.fetch(self.throttled("2"))
    self.clock.advance(by: .milliseconds(600))
    let second = self.fetch(self.throttled("3"))
    await self.expectCancellation(given)
    self.clock.advance(by: .milliseconds(399))
    expect(self.asked.all, equals: ["1"])
    self.clock.advance(by: .milliseconds(1))
    try await expect(second.finished(), equals: "3")
    let third = self.fetch(self.throttled("4"))
    self.clock.advance(by: .milliseconds(999))
    expect(self.asked.all, equals: ["1", "3"])
    self.clock.advance(by: .milliseconds(1))
    try await expect(third.finished(), equals: "4")
    self.clock.advance(by: .seconds(1))
    try await expect(self.fetch(self.throttled("5")).finished(), equals: "5")
  }

  // MARK: - Long durations

  @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max)])
  func `A call waits for the longest duration until it is cancelled`(_ duration: Duration) async throws {
    self.clock.advance(by: .seconds(1))
    let debounced = self.query("a").debounced(for: duration).manualTime(self.clock)
    let waiting = self.fetch(OperationStore.detached(query: debounced))
    try await self.clock.sleepers(count: 1)
    waiting.cancel()
    await self.expectCancellation(waiting)
    func throttled(_ text: String) -> Task<String, any Error> {
      self.fetch(OperationStore.detached(query: self.query(text).throttled(for: duration).manualTime(self.clock)))
    }
    try await expect(throttled("b").finished(), equals: "B")
    let second = throttled("c")
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(1_000_000))
    second.cancel()
    await self.expectCancellation(second)
    expect(self.asked.all, equals: ["b"])
  }

  // MARK: - Groups

  @Test func `Paths with other prefixes, named prefixes and other clients have groups of their own`() async throws {
    func fetch(
      _ path: (String, String, Int),
      among prefix: OperationPath? = nil,
      in client: OperationClient
    ) -> Task<Int, any Error> {
      let query = QueryOperation(path.0, path.1, path.2) { _ in 1 }.debounced(for: .milliseconds(300), among: prefix)
      let store = client.store(for: query.manualTime(self.clock))
      return Task.immediate { try await store.fetch() }
    }
    let client = OperationClient()
    let first = fetch(("posts", "a", 1), in: client)
    let others = [
      fetch(("users", "a", 1), in: client), fetch(("posts", "b", 1), in: client),
      fetch(("posts", "a", 2), in: OperationClient()),
    ]
    let named = fetch(("posts", "c", 1), among: ["posts"], in: client)
    let last = fetch(("posts", "d", 1), among: ["posts"], in: client)
    await #expect(throws: CancellationError.self) { try await named.finished() }
    self.clock.advance(by: .milliseconds(300))
    for call in [first, last] + others { try await expect(call.finished(), equals: 1) }
  }

  @Test func `Groups that are not used any more do not accumulate`() async throws {
    for number in 0..<200 {
      let query = QueryOperation("groups", number, 0) { _ in 1 }.debounced(for: .zero).manualTime(self.clock)
      _ = try await OperationStore.detached(query: query).fetch()
    }
    #expect(PaceGroups.withoutClient.count <= 130)
  }
}

extension Task where Failure == any Error {
  fileprivate func finished() async throws -> Success {
    try await withTimeLimit("a paced call to end") { try await self.value }
  }
}
