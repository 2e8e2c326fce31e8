import OperationAudit
import OperationCore
import OperationTesting
import Synchronization
import Testing

/// The records that a trail keeps, and those that it passes to subscribers.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct TrailTests {
  @Test(arguments: [1, 2, 7, 1000, .max])
  func `A trail keeps its newest records`(_ capacity: Int) async throws {
    let trail = AuditTrail(capacity: capacity)
    for _ in 1...2500 { try await runOnce(in: trail) }
    #expect(trail.records.map(\.id) == Array((1...2500).suffix(capacity)))
    #expect(trail.recordCount == 2500)
  }

  @Test
  func `A trail without room for a record is a mistake of the program`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = AuditTrail(capacity: 0)
    }
    let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
    #expect(message?.contains("a capacity of 0 keeps no record. Pass at least 1.") == true)
  }

  @Test
  func `Subscribers receive each later record, in the order in which they subscribed`() async throws {
    let trail = AuditTrail()
    let received = Mutex<[String]>([])
    try await runOnce(in: trail)
    let subscriptions = ["a", "b"].map { name in
      trail.subscribe { record in received.withLock { $0.append("\(name)\(record.id)") } }
    }
    try await runOnce(in: trail)
    subscriptions[0].cancel()
    subscriptions[0].cancel()
    try await runOnce(in: trail)
    #expect(received.withLock { $0 } == ["a2", "b2", "b3"])
    withExtendedLifetime(subscriptions) {}
  }

  @Test
  func `No lock is held while a handler is called`() async throws {
    let trail = AuditTrail()
    let received = Mutex<[Int]>([])
    let later = Mutex<[OperationSubscription]>([])
    let subscription = trail.subscribe { record in
      received.withLock { $0.append(record.id) }
      #expect(trail.records.last == record)
      guard record.id == 1 else { return }
      let added = trail.subscribe { record in received.withLock { $0.append(record.id * 10) } }
      later.withLock { $0.append(added) }
      // A run inside of a handler: its record is delivered after the current one.
      let task = Task.immediate { try await runOnce(in: trail) }
      later.withLock { $0.append(OperationSubscription { task.cancel() }) }
    }
    try await runOnce(in: trail)
    #expect(received.withLock { $0 } == [1, 2, 20])
    subscription.cancel()
    for subscription in later.withLock({ $0 }) { subscription.cancel() }
  }

  @Test
  func `A handler that another one cancels is not called any more`() async throws {
    let trail = AuditTrail()
    let received = Mutex<[String]>([])
    let victim = Mutex<OperationSubscription?>(nil)
    let first = trail.subscribe { _ in
      received.withLock { $0.append("first") }
      victim.withLock { $0 }?.cancel()
    }
    let second = trail.subscribe { _ in received.withLock { $0.append("second") } }
    victim.withLock { $0 = second }
    try await runOnce(in: trail)
    #expect(received.withLock { $0 } == ["first"])
    first.cancel()
  }

  @Test
  func `Runs on many threads are reported once, in the order of the records`() async throws {
    let trail = AuditTrail(capacity: 10_000)
    let received = Mutex<[Int]>([])
    let subscription = trail.subscribe { record in received.withLock { $0.append(record.id) } }
    await withTaskGroup { group in
      for _ in 1...20 {
        group.addTask {
          for _ in 1...500 { try? await runOnce(in: trail) }
        }
      }
    }
    // All tasks have returned, and so has the one that delivered the last record.
    #expect(received.withLock { $0 } == trail.records.map(\.id))
    #expect(Set(trail.records.map(\.id)) == Set(1...10_000))
    #expect(trail.activeCount == 0)
    subscription.cancel()
  }

  @Test
  func `Nothing is left of a cancelled or released subscription, nor of a trail`() async throws {
    let lifetimes = LifetimeTracker()
    weak var released: AuditTrail?
    do {
      let trail = AuditTrail()
      released = trail
      let token = lifetimes.token()
      let subscription = trail.subscribe { _ in token.touch() }
      try await runOnce(in: trail)
      subscription.cancel()
      _ = trail.subscribe { [token = lifetimes.token()] _ in token.touch() }
    }
    try await lifetimes.noneAlive()
    #expect(released == nil)
  }
}

/// Runs an audited operation that returns at once.
private func runOnce(in trail: AuditTrail) async throws {
  _ = try await OperationRunner(operation: Nothing().audited(in: trail)).run()
}

private struct Nothing: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}
