import CoreFixtures
import FoundationEssentials
import OperationPausing
import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationEvents
@testable import OperationStores

/// `client.events`: what happens in the stores of a client.
@Suite(.bounded, .warningsAreIssues)
struct ClientEventTests {
  private let client = OperationClient()
  private let clock = ManualClock()
  private let script = IntScript()

  private var query: ContextModifiedOperation<IntQuery> { self.script.query(path: ["a"]).manualTime(self.clock) }

  @Test
  func `A fetch is the start and the end of a run`() async throws {
    let events = self.client.events
    let store = self.client.store(for: self.query)
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    self.clock.advance(by: .seconds(2))
    run.succeed(1)
    try await expect(fetch.finished(), equals: 1)
    let texts = try await next(3, of: events)
    expect(texts, equals: ["store added", "run 1 began, started by a call", "run 1 succeeded after 2 s"])
  }

  @Test
  func `An event has the operation, the path and the times of the store`() async throws {
    self.clock.advance(by: .seconds(7))
    let store = self.client.store(for: self.query)
    let events = self.client.events
    store.currentValue = 4
    let event = try #require(try await withTimeLimit("an event") { await events.first { _ in true } })
    #expect(event.number == 1 && event.path == ["a"] && event.operationName == self.query.operationName)
    #expect(event.run == nil && event.cause?.kind == .call)
    #expect(event.date == self.clock.now() && event.elapsed == .seconds(7))
    expect("\(event)", equals: "\(self.query.operationName) at [\"a\"]: a value was set by a call")
    expect(event.what.name, equals: "state.written")
  }

  @Test
  func `Subscribers, joins, yields, failures and cancellations are events`() async throws {
    let shared = self.query.context { $0.operationRunSharing = OperationRunSharing() }
    let store = self.client.store(for: shared.enableAutomaticRunning(onlyWhen: .always(true)))
    let events = self.client.events
    let subscription = store.subscribe(named: "PostView")
    let run = try await self.script.next()
    let join = Task.immediate { try await store.fetch() }
    run.yield(1)
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await join.finished() }
    subscription.cancel()
    let cancelled = Task.immediate { try await store.fetch() }
    _ = try await self.script.next()
    cancelled.cancel()
    let texts = try await next(8, of: events)
    expect(
      texts,
      equals: [
        "PostView came, now 1", "run 1 began, started by the new subscriber PostView", "a caller joined run 1",
        "run 1 yielded a value", "run 1 failed after 0 s: Refused(code: 0)", "PostView left, now 0",
        "run 2 began, started by a call", "run 2 was cancelled after 0 s",
      ]
    )
  }

  @Test
  func `Attempts are events with the delay, and with the reason if the error asks for it`() async throws {
    let query = QueryOperation<Int, any Error>("b") { [clock] context in
      context.attemptFailed(with: Busy(retryAfter: .seconds(3)), nextAfter: .seconds(3))
      clock.advance(by: .seconds(3))
      var next = context
      next.beginNextAttempt(after: Busy(retryAfter: nil))
      next.attemptFailed(with: nil, nextAfter: .milliseconds(200))
      return 1
    }
    let events = self.client.events
    try await self.client.store(for: query.manualTime(self.clock)).fetch()
    try await expect(
      next(6, of: events),
      equals: [
        "store added", "run 1 began, started by a call",
        "run 1: attempt 1 failed: busy; next in 3 s, because the server asked for it", "run 1: attempt 2 began",
        "run 1: attempt 2 asks for another one; next in 200 ms", "run 1 succeeded after 3 s",
      ]
    )
  }

  @Test
  func `Pauses and notices are events`() async throws {
    let gate = DescribedSwitch(false)
    let query = self.query.announcing().waits(until: gate)
    let store = self.client.store(for: query)
    let events = self.client.events
    let fetch = Task.immediate { try await store.fetch() }
    try await store.reached { $0.isPaused }
    self.clock.advance(by: .seconds(5))
    gate.set(true)
    try await self.script.next().succeed(1)
    _ = try await fetch.finished()
    let texts = try await next(7, of: events).filter { !$0.contains("subscriber") }
    expect(
      texts,
      equals: [
        "run 1 began, started by a call", "run 1 waits until the light is green",
        "run 1 resumed after 5 s: the light is green", "notice quota.exceeded \(query.operationName)",
        "run 1 succeeded after 5 s",
      ]
    )
  }

  @Test
  func `Changes from outside of runs are events`() async throws {
    let store = self.client.store(for: self.query.cacheTime(.seconds(10)))
    let events = self.client.events
    store.setResult(to: .failure(Refused()))
    store.addLayer(StateLayerIdentifier()) { $0 = 1 }
    store.resetState()
    self.client.invalidate(matching: ["a"])
    self.client.clearStores()
    try await expect(
      next(5, of: events),
      equals: [
        "an error was set by a call", "an optimistic update was added by a call", "the state was reset by a call",
        "invalidated: an invalidation of [\"a\"]", "store removed: cleared by a call",
      ]
    )
  }

  @Test
  func `All readers have all events in one order, and a slow one misses the oldest`() async throws {
    let store = self.client.store(for: self.query)
    let (first, second) = (self.client.events, self.client.events)
    let small = self.client.events(keeping: 2)
    for number in 0..<5 { store.currentValue = number }
    let numbers = try await withTimeLimit("the events") {
      var numbers: [[UInt64]] = []
      for (events, count) in [(first, 5), (second, 5), (small, 2)] {
        var (read, iterator) = ([UInt64](), events.makeAsyncIterator())
        while read.count < count, let event = await iterator.next() { read.append(event.number) }
        numbers.append(read)
      }
      return numbers
    }
    expect(numbers, equals: [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [4, 5]])
    #expect(first.droppedCount == 0 && small.droppedCount == 3)
  }

  @Test
  func `A sequence ends when its task is cancelled, and leaves nothing behind`() async throws {
    let store = self.client.store(for: self.query)
    let began = Gate()
    let reader = Task.immediate { [events = self.client.events] in
      var iterator = events.makeAsyncIterator()
      began.open()
      return await iterator.next()
    }
    try await began.wait()
    #expect(!self.client.storage.observers.isEmpty)
    reader.cancel()
    #expect(try await reader.finished() == nil)
    #expect(self.client.storage.observers.isEmpty)
    #expect(!store.runtime.isWatched(.all))
    do { withExtendedLifetime(self.client.events) {} }
    #expect(self.client.storage.observers.isEmpty)
    #expect(self.client.storage.state.withLock { $0.watchers.isEmpty })
  }

  @Test
  func `A sequence ends after its last events when the client goes`() async throws {
    var client: OperationClient? = OperationClient()
    let events = try #require(client?.events)
    _ = client?.store(for: self.query)
    client = nil
    let texts = try await withTimeLimit("the end") {
      var texts: [String] = []
      for await event in events { texts.append(event.sentence) }
      return texts
    }
    expect(texts, equals: ["store added"])
  }

  @Test
  func `A reader may end in exclusive access, and receives the events after it`() async throws {
    let store = self.client.store(for: self.query)
    let events = self.client.events
    store.withExclusiveAccess { store in
      store.currentValue = 1
      withExtendedLifetime(self.client.events) {}
    }
    try await expect(next(1, of: events), equals: ["a value was set by a call"])
  }

  @Test
  func `What is secret is not in events`() async throws {
    let store = self.client.store(for: self.script.query(path: ["a", Token(text: "hush")]).manualTime(self.clock))
    let events = self.client.events
    store.setResult(to: .failure(Leak(text: "hush")))
    let fetch = Task.immediate { try await store.fetch() }
    try await self.script.next().fail(Leak(text: "hush"))
    await #expect(throws: Leak.self) { try await fetch.finished() }
    let texts = try await withTimeLimit("events") {
      var (texts, iterator) = ([String](), events.makeAsyncIterator())
      while texts.count < 3, let event = await iterator.next() { texts.append("\(event)") }
      return texts
    }
    expect(texts.last?.hasSuffix("failed after 0 s: Leak"), equals: true)
    #expect(texts.allSatisfy { $0.contains("[\"a\", Token]: ") })
    #expect(!texts.joined().contains("hush"))
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `A buffer keeps the newest events in order`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 0...20, using: &generator)
    let buffer = EventBuffer(capacity: capacity)
    let store = OperationStore.detached(query: self.query)
    var (model, dropped, number) = ([UInt64](), 0, UInt64(0))
    for _ in 0..<300 {
      if Int.random(in: 0..<5, using: &generator) < 3 {
        number += 1
        let event = OperationEvent(
          number: number,
          path: store.path,
          operationName: "",
          run: nil,
          cause: nil,
          date: store.context.date,
          elapsed: .zero,
          what: .runJoined
        )
        _ = buffer.append(event)
        model.append(number)
        if model.count > max(capacity, 1) {
          model.removeFirst()
          dropped += 1
        }
      } else {
        expect(buffer.removeFirst()?.number, equals: (model.isEmpty ? nil : model.removeFirst()))
      }
      expect(buffer.droppedCount, equals: dropped)
    }
  }
}

/// An error that hints at the next attempt.
struct Busy: RetryHinting, CustomStringConvertible {
  let retryAfter: OperationDuration?

  var description: String { "busy" }
}

private struct Token: Hashable, Sendable, OperationSecret {
  let text: String
}

private struct Leak: Error, OperationSecret {
  let text: String
}
