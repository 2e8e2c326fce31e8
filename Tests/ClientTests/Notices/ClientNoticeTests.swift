import CoreFixtures
import OperationCore
import OperationPausing
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct ClientNoticeTests {
  private let client = OperationClient()
  private let log = Log<String>()

  private func query(_ name: String) -> some QueryRequest<Int, any Error> {
    QueryOperation("query", name) { context in
      context.send(OperationNotice(OperationNotice.Name(name)))
      return 1
    }
  }

  @Test
  func `An observer of a client receives the notices of its stores, old and new, until it is cancelled`() async throws {
    let old = self.client.store(for: self.query("old"))
    let first = self.client.onNotice { [log] notice in log.append("1 \(notice.name)") }
    let second = self.client.onNotice { [log] notice, context in
      log.append("2 \(notice.name) \(context.operationClient != nil)")
    }
    try await old.fetch()
    self.client.defaultContext = OperationContext()
    try await self.client.store(for: self.query("new")).fetch()
    expect(self.log.all, equals: ["1 old", "2 old true", "1 new", "2 new true"])

    first.cancel()
    try await old.fetch()
    expect(self.log.all.suffix(1), equals: ["2 old true"])
    second.cancel()
    try await old.fetch()
    expect(self.log.all.count, equals: 5)
  }

  @Test
  func `Ten thousand observers leave nothing behind`() async throws {
    let lifetimes = LifetimeTracker()
    let store = self.client.store(for: self.query("a"))
    for _ in 0..<10_000 {
      let token = lifetimes.token()
      self.client.onNotice { _ in withExtendedLifetime(token) {} }.cancel()
    }
    try await lifetimes.noneAlive()
    expect(store.context.operationNoticeObservers.count, equals: 1)
  }

  @Test
  func `A pause and its end are notices with the reason and the time`() async throws {
    let clock = ManualClock()
    let gate = ChangingSpecification()
    let script = IntScript(default: .value(3))
    let subscription = self.client.onNotice { [log] notice in
      log.append("\(notice)" + (notice.path == nil ? "" : " at \(notice.path ?? [])"))
    }
    defer { subscription.cancel() }
    let query = script.query(path: ["a"]).waits(until: gate && !.always(false)).manualTime(clock)
    let store = self.client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    try await store.reached { $0.isPaused }
    clock.advance(by: .seconds(5))
    gate.open()
    try await expect(fetch.finished(), equals: 3)

    let reason = "pause.reason=(the gate is open && !never)"
    expect(self.log.all.count, equals: 2)
    expect(self.log.all.first?.hasPrefix("run.paused"), equals: true)
    expect(self.log.all.first?.hasSuffix("\(reason) at \(store.path)"), equals: true)
    expect(self.log.all.last?.contains("pause.duration=5 s pause.outcome=satisfied \(reason)"), equals: true)
  }
}

/// A specification that begins to hold.
private final class ChangingSpecification: OperationRunSpecification, Sendable, CustomStringConvertible {
  private let isOpen = Box(false)
  private let changes = Box<[@Sendable () -> Void]>([])

  var description: String { "the gate is open" }

  func open() {
    self.isOpen.value = true
    for change in self.changes.value { change() }
  }

  func isSatisfied(in context: OperationContext) -> Bool { self.isOpen.value }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.changes.value.append(onChange)
    return .empty
  }
}
