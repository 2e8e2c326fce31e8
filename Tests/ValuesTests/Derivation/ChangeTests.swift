import Dispatch
import Foundation
import OperationBackoff
import OperationCore
import OperationDerivation
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct ChangeTests {
  let client = OperationClient.automatic()
  let cell = Cell("a", 1)

  private var source: OperationStore<QueryState<Int, any Error>> { self.client.store(for: self.cell.query) }

  @Test
  func `A derived query has run when the call that changed a source returns`() async throws {
    let one = Derived("1") { [cell] in try await $0.value(of: cell.query) + 1 }
    let two = Derived("2") { try await $0.value(of: one.query) * 2 }
    let shown = Shown(self.client.store(for: two.query))
    expect(shown.all, equals: [4])
    self.source.currentValue = 10
    expect(shown.all, equals: [4, 22])
    expect([one, two].map(\.calls.value), equals: [2, 2])
  }

  @Test
  func `A slow body on another thread does not hold up the queries of other sources`() async throws {
    let (begun, end) = (Gate(), DispatchSemaphore(value: 0))
    @Sendable func waitForEnd() { #expect(end.waitForSignal()) }
    let isSlow = Box(false)
    let slow = Derived("slow") { [cell] context in
      let value = try await context.value(of: cell.query)
      if isSlow.value {
        begun.open()
        waitForEnd()
      }
      return value
    }
    let other = Cell("b", 1)
    let quick = Derived("quick") { try await $0.value(of: other.query) }
    let shown = [slow, quick].map { Shown(self.client.store(for: $0.query)) }
    isSlow.value = true
    let change = Task { try await onThread { self.source.currentValue = 2 } }
    try await begun.wait()
    self.client.store(for: other.query).currentValue = 7
    expect(shown.map(\.all), equals: [[1], [1, 7]])
    end.signal()
    try await change.value
    await self.client.settledDerivations()
    expect(shown.map(\.all), equals: [[1, 2], [1, 7]])
    expect([slow, quick].map(\.calls.value), equals: [2, 2])
  }

  @Test(arguments: [false, true])
  func `Each of several threads finds its queries run when its change returns`(_ isJoined: Bool) async throws {
    let cells = (0..<4).map { Cell("c\($0)", 0) }
    let derived = cells.map { cell in
      Derived("d\(cell.name)") { try await $0.value(of: cell.query) * 10 }
    }
    let sum = Derived("sum") { context in
      var sum = 0
      for query in derived { sum += try await context.value(of: query.query) }
      return sum
    }
    let shown = derived.map { Shown(self.client.store(for: $0.query)) }
    let total = isJoined ? Shown(self.client.store(for: sum.query)) : nil
    await self.client.settledDerivations()
    let misses = try await withThrowingTaskGroup(of: Int.self) { group in
      for (cell, shown) in zip(cells, shown) {
        group.addTask {
          try await onThread {
            (1...200).count { number in
              self.client.store(for: cell.query).currentValue = number
              return shown.all.last != number * 10
            }
          }
        }
      }
      return try await group.reduce(0, +)
    }
    await self.client.settledDerivations()
    #expect(shown.allSatisfy { $0.all.last == 2_000 })
    if let total {
      // Its run may be the one that runs a query below it, on the thread of another change.
      expect(total.all.last, equals: 8_000)
    } else {
      expect(misses, equals: 0)
    }
  }

  @Test
  func `In a diamond each body runs once for a change, and no value mixes before and after`() async throws {
    let left = Derived("left") { [cell] in try await $0.value(of: cell.query) }
    let right = Derived("right") { [cell] in try await $0.value(of: cell.query) }
    // A mix would be another number than a multiple of 1,001.
    let joined = Derived("joined") { context in
      try await context.value(of: left.query) + 1_000 * context.value(of: right.query)
    }
    let shown = Shown(self.client.store(for: joined.query))
    for number in 2...20 { self.source.currentValue = number }
    expect(shown.all, equals: (1...20).map { $0 * 1_001 })
    expect([left, right, joined].map(\.calls.value), equals: [20, 20, 20])
  }

  @Test
  func `A diamond with a suspended side shows nothing before that has ended`() async throws {
    let gate = Gate()
    let isHeld = Box(false)
    let left = Derived("left") { [cell] in try await $0.value(of: cell.query) }
    let right = Derived("right") { [cell] context in
      let value = try await context.value(of: cell.query)
      if isHeld.value { try await gate.wait() }
      return value
    }
    let joined = Derived("joined") { context in
      try await context.value(of: left.query) + 1_000 * context.value(of: right.query)
    }
    let shown = Shown(self.client.store(for: joined.query))
    isHeld.value = true
    self.source.currentValue = 2
    try await gate.arrivals(count: 1)
    expect(shown.all, equals: [1_001])
    gate.open()
    await self.client.settledDerivations()
    expect(shown.all, equals: [1_001, 2_002])
    expect([left, right, joined].map(\.calls.value), equals: [2, 2, 2])
  }

  @Test
  func `An equal value is no change`() async throws {
    let parity = Derived("parity") { [cell] in try await $0.value(of: cell.query) % 2 }
    let text = Derived("text") { try await $0.value(of: parity.query) + 100 }
    let shown = Shown(self.client.store(for: text.query))
    self.source.currentValue = 1
    expect(parity.calls.value, equals: 1)
    self.source.currentValue = 3
    expect([parity, text].map(\.calls.value), equals: [2, 1])
    self.source.currentValue = 4
    expect([parity, text].map(\.calls.value), equals: [3, 2])
    expect(shown.all, equals: [101, 100])
  }

  @Test
  func `A value whose type is not Equatable changes each time that it is set`() async throws {
    struct Opaque: Sendable { var number: Int }
    let query = QueryOperation<Opaque, any Error>("opaque") { _ in Opaque(number: 1) }.staleWhenNoValue()
    let derived = Derived("d") { try await $0.value(of: query).number }
    let shown = Shown(self.client.store(for: derived.query))
    self.client.store(for: query).currentValue = Opaque(number: 1)
    expect(derived.calls.value, equals: 2)
    expect(shown.all, equals: [1])
  }

  @Test
  func `A refetch of a source that returns an equal value runs no body`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    let shown = Shown(self.client.store(for: derived.query))
    try await self.source.fetch()
    await self.client.invalidate(matching: ["cell"]).settled()
    expect(self.cell.runCount, equals: 3)
    expect(derived.calls.value, equals: 1)
    expect(shown.all, equals: [2])
  }

  @Test
  func `Invalidating everything runs each body once`() async throws {
    let one = Derived("1") { [cell] in try await $0.value(of: cell.alwaysStale) + 1 }
    let two = Derived("2") { [cell] context in
      try await context.value(of: one.query) + context.value(of: cell.alwaysStale)
    }
    let shown = Shown(self.client.store(for: two.query))
    self.cell.set(5)
    await self.client.invalidate().settled()
    await self.client.settledDerivations()
    expect(shown.all, equals: [3, 11])
    expect([one, two].map(\.calls.value), equals: [2, 2])
    expect(self.cell.runCount, equals: 2)
  }

  @Test
  func `A derived query is not called again before all sources that an invalidation runs have ended`() async throws {
    let (a, b) = (Cell("x", 1), Cell("y", 1))
    let derived = Derived("d") { context in
      try await context.value(of: a.query) + 1_000 * context.value(of: b.query)
    }
    let shown = Shown(self.client.store(for: derived.query))
    let gate = Gate()
    b.hold(at: gate)
    a.set(2)
    b.set(2)
    let invalidation = self.client.invalidate(matching: ["cell"])
    try await gate.arrivals(count: 1)
    expect(shown.all, equals: [1_001])
    gate.open()
    await invalidation.settled()
    await self.client.settledDerivations()
    expect(shown.all, equals: [1_001, 2_002])
    expect(derived.calls.value, equals: 2)
  }

  @Test
  func `A source that changes during a run of the body is read again before a value shows`() async throws {
    let gate = Gate()
    let isHeld = Box(false)
    let derived = Derived("d") { [cell] context in
      let first = try await context.value(of: cell.query)
      if isHeld.value { try await gate.wait() }
      return first
    }
    let shown = Shown(self.client.store(for: derived.query))
    isHeld.value = true
    self.source.currentValue = 2
    try await gate.arrivals(count: 1)
    self.source.currentValue = 3
    isHeld.value = false
    gate.open()
    await self.client.settledDerivations()
    expect(shown.all, equals: [1, 3])
    expect(derived.calls.value, equals: 3)
  }

  @Test
  func `A handler of the source may read the derived store, and is called before that runs`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    let store = self.client.store(for: derived.query)
    let shown = Shown(store)
    let seen = Log<[Int?]>()
    let subscription = self.source.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in seen.append([state.currentValue, store.currentValue]) }),
      isolation: nil
    )
    self.source.currentValue = 5
    subscription.cancel()
    expect(seen.all, equals: [[1, 2], [5, 2]])
    expect(shown.all, equals: [2, 6])
  }

  @Test
  func `A body that changes what it reads is reported, and ends`() async throws {
    let derived = Derived("d") { [cell, client] context in
      let value = try await context.value(of: cell.query)
      client.store(for: cell.query).currentValue = value + 1
      return value
    }
    let store = self.client.store(for: derived.query)
    _ = try await expectWarning(.unsettledDerivation) { try await store.fetch() }
    expect(derived.calls.value, equals: 100)
  }

  @Test
  func `Without subscribers a changed source makes the derived value stale, and runs nothing`() async throws {
    let derived = Derived("d") { [cell] in try await $0.value(of: cell.query) + 1 }
    let store = self.client.store(for: derived.query)
    try await store.fetch()
    #expect(!store.isStale)
    self.source.currentValue = 5
    #expect(store.isStale)
    expect(derived.calls.value, equals: 1)
    try await expect(self.client.ensureValue(for: derived.query), equals: 6)
    #expect(!store.isStale)
    try await expect(self.client.ensureValue(for: derived.query), equals: 6)
    expect(derived.calls.value, equals: 2)
  }

  @Test
  func `A derived value is stale when a source of a source has changed or is stale`() async throws {
    let one = Derived("1") { [cell] in try await $0.value(of: cell.query) + 1 }
    let two = Derived("2") { try await $0.value(of: one.query) + 1 }
    try await expect(self.client.ensureValue(for: two.query), equals: 3)
    let store = self.client.store(for: two.query)
    #expect(!store.isStale)
    self.source.currentValue = 2
    #expect(store.isStale)
    try await expect(self.client.ensureValue(for: two.query), equals: 4)
    self.client.invalidate(matching: ["cell"])
    #expect(store.isStale)
  }

  @Test
  func `With automatic running off a derived query is only stale`() async throws {
    let derived = QueryOperation<Int, any Error>("d") { [cell] in try await $0.value(of: cell.query) + 1 }
      .derived().disableAutomaticRunning()
    let store = self.client.store(for: derived)
    let shown = Shown(store)
    try await expect(store.fetch(), equals: 2)
    self.source.currentValue = 5
    #expect(store.isStale)
    expect(shown.all, equals: [2])
    try await expect(store.fetch(), equals: 6)
  }

  @Test
  func `A failure that comes from a source is not retried by the query that reads it`() async throws {
    self.cell.fail()
    let calls = Counter()
    let query = QueryOperation<Int, any Error>("d") { [cell] context in
      calls.increment()
      return try await context.value(of: cell.query)
    }
    .derived().retry(limit: 3).delayer(.noDelay)
    await #expect(throws: Missing.self) { try await self.client.store(for: query).fetch() }
    expect(calls.value, equals: 1)
  }

  @Test
  func `A failure of the body itself is retried`() async throws {
    let calls = Counter()
    let query = QueryOperation<Int, any Error>("d") { [cell] context in
      let value = try await context.value(of: cell.query)
      if calls.increment() < 3 { throw Missing(name: "body") }
      return value
    }
    .derived().retry(limit: 3).delayer(.noDelay)
    try await expect(self.client.store(for: query).fetch(), equals: 1)
    expect(calls.value, equals: 3)
  }

  @Test
  func `A chain of a hundred follows its source in one call`() async throws {
    var chain = [Derived("0") { [cell] in try await $0.value(of: cell.query) + 1 }]
    for number in 1..<100 {
      let below = chain[number - 1]
      chain.append(Derived("\(number)") { try await $0.value(of: below.query) + 1 })
    }
    let store = self.client.store(for: chain[99].query)
    let shown = Shown(store)
    await self.client.settledDerivations()
    expect(store.currentValue, equals: 101)
    self.source.currentValue = 1_000
    expect(shown.all, equals: [101, 1_100])
    #expect(chain.allSatisfy { $0.calls.value == 2 })
  }

  @Test
  func `A thousand readers of a source run once each, and a change of one of a thousand sources runs one`() async throws
  {
    let cells = (0..<1_000).map { Cell("c\($0)", $0) }
    let sum = Derived("sum") { context in
      var sum = 0
      for cell in cells { sum += try await context.value(of: cell.query) }
      return sum
    }
    let readers = (0..<1_000).map { number in
      Derived("r\(number)") { [cell] in try await $0.value(of: cell.query) + number }
    }
    let shown = Shown(self.client.store(for: sum.query))
    let others = readers.map { Shown(self.client.store(for: $0.query)) }
    self.client.store(for: cells[0].query).currentValue = 1_000
    expect(shown.all, equals: [499_500, 500_500])
    #expect(readers.allSatisfy { $0.calls.value == 1 })
    self.source.currentValue = 2
    #expect(others.enumerated().allSatisfy { $1.all == [$0 + 1, $0 + 2] })
    #expect(readers.allSatisfy { $0.calls.value == 2 })
    expect(sum.calls.value, equals: 2)
  }
}

/// Runs code that may block on a thread of its own.
private func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async throws -> R {
  try await withTimeLimit("a thread to end") {
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }
}
