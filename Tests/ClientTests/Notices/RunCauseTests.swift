import CoreFixtures
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// `context.operationRunCause`: why a run has begun.
@Suite(.bounded, .warningsAreIssues)
struct RunCauseTests {
  private let client = OperationClient()
  private let clock = ManualClock()
  private let causes = Log<String>()

  /// A query whose runs note their causes.
  private func query(_ name: String = "a") -> some QueryRequest<Int, any Error> {
    QueryOperation("causes", name) { [causes] context in
      causes.append(context.operationRunCause?.description ?? "none")
      return causes.count
    }
    .manualTime(self.clock)
  }

  private func automaticQuery(_ name: String = "a") -> some QueryRequest<Int, any Error> {
    self.query(name).stale(after: .seconds(1_000_000)).enableAutomaticRunning(onlyWhen: .always(true))
  }

  /// Waits until a subscriber has seen a number of values.
  ///
  /// It takes the recorder of a subscriber that is there already: another one would be a cause itself.
  private func values(_ count: Int, in recorder: IntRecorder) async throws {
    try await recorder.firstState { $0.valueUpdateCount == count && !$0.isLoading }
  }

  @Test
  func `A call is the cause of its run, and outside of runs there is none`() async throws {
    let store = self.client.store(for: self.query())
    try await store.fetch()
    try await store.runTask().runIfNeeded()
    expect(self.causes.all, equals: ["a call", "a call"])
    expect(OperationContext().operationRunCause, equals: nil)
    expect(store.context.operationRunCause, equals: nil)
  }

  @Test
  func `The name of the calling task is known while somebody reads the events`() async throws {
    let store = self.client.store(for: self.query())
    let events = self.client.events
    try await Task.immediate(name: "refresh") { _ = try await store.fetch() }.finished()
    expect(self.causes.all, equals: ["a call in the task refresh"])
    withExtendedLifetime(events) {}
  }

  @Test
  func `A subscriber is the cause, with its name if it has one`() async throws {
    let store = self.client.store(for: self.automaticQuery())
    let first = store.subscribe(named: "PostView")
    await store.settled()
    let recorder = IntRecorder()
    let second = self.client.store(for: self.automaticQuery("b")).subscribe(with: recorder.handler)
    try await self.values(1, in: recorder)
    expect(self.causes.all, equals: ["the new subscriber PostView", "a new subscriber"])
    first.cancel()
    second.cancel()
  }

  @Test
  func `An invalidation is the cause of a rerun, also when that waits for an earlier run`() async throws {
    let script = IntScript()
    let log = self.causes
    let query = script.query(path: ["posts", 1]).stale(after: .seconds(100)).enableAutomaticRunning(
      onlyWhen: .always(true)
    )
    let store = self.client.store(for: query)
    let handler = OperationEventHandler<IntState>(onRunStarted: { context in
      log.append(context.operationRunCause?.description ?? "none")
    })
    let subscription = store.subscribe(named: "view", with: handler)
    defer { subscription.cancel() }
    let first = try await script.next()
    self.client.invalidate(matching: ["posts"])
    self.client.invalidate()
    first.succeed(1)
    let second = try await script.next()
    second.succeed(2)
    // Not by the states, whose reader is a subscriber, too.
    await store.settled()
    self.client.invalidate(matching: ["posts", 1], by: "AddPost", isolation: nil)
    try await script.next().succeed(3)
    await store.settled()
    expect(
      log.all,
      equals: [
        "the new subscriber view", "an invalidation of all stores", "an invalidation of [\"posts\", 1] by AddPost",
      ]
    )
  }

  @Test
  func `A condition that becomes true is the cause, with its description`() async throws {
    let condition = DescribedSwitch(false)
    let store = self.client.store(for: self.query().rerunOnChange(of: condition))
    let other = self.client.store(
      for: self.query("b").stale(after: .seconds(1_000_000)).enableAutomaticRunning(onlyWhen: condition)
    )
    let recorders = [IntRecorder(), IntRecorder()]
    let subscriptions = [store.subscribe(with: recorders[0].handler), other.subscribe(with: recorders[1].handler)]
    defer { for subscription in subscriptions { subscription.cancel() } }
    condition.set(true)
    for recorder in recorders { try await self.values(1, in: recorder) }
    let text = "a condition that became true: the light is green"
    expect(Set(self.causes.all), equals: [text])
    #expect(self.causes.count >= 2)
  }

  @Test
  func `Polling, a prefetch, a controller and a refresh behind a value are causes`() async throws {
    let polled = self.client.store(for: self.query().rerun(every: .seconds(5)))
    let recorder = IntRecorder()
    let subscription = polled.subscribe(with: recorder.handler)
    self.clock.advance(by: .seconds(5))
    try await self.values(1, in: recorder)
    subscription.cancel()
    await self.client.prefetch(for: self.query("b"))
    _ = try await self.client.ensureValue(for: self.query("b"), refreshesBehind: true)
    await self.client.store(for: self.query("b")).settled()
    let controls = Box<OperationControls<IntState>?>(nil)
    let controlled = self.client.store(for: self.query("c").controlled(by: Keeping(controls: controls)))
    try await controls.value?.yieldRerun()
    expect(
      self.causes.all,
      equals: [
        "polling every 5 s", "a prefetch", "a refresh behind a stale value", "the controller Keeping",
      ]
    )
    withExtendedLifetime(controlled) {}
  }

  @Test
  func `A call may tell its cause, which runs inside of it do not take over`() async throws {
    let inner = self.query("inner")
    let client = self.client
    let outer = QueryOperation<Int, any Error>("outer") { [causes] context in
      causes.append(context.operationRunCause?.description ?? "none")
      try await client.store(for: inner).fetch(using: context)
      return 1
    }
    var context = OperationContext()
    context.operationRunCause = OperationRunCause(OperationRunCause.Kind("push"), subject: "new-message")
    try await self.client.store(for: outer).fetch(using: context)
    expect(self.causes.all, equals: ["push: new-message", "a call"])
  }

  @Test
  func `Causes are equal by kind, subject and operation, and are encoded with them`() {
    let polling = OperationRunCause(.polling, subject: "5 s")
    expect(polling, equals: OperationRunCause(.polling, subject: "5 s"))
    #expect(polling != OperationRunCause(.polling, subject: "6 s"))
    expect(polling.hashValue, equals: OperationRunCause(.polling, subject: "5 s").hashValue)
    #expect(polling.kind.description == "polling" && polling.subject == "5 s")
    expect(polling.invalidatingOperation, equals: nil)
  }
}

/// A switch with a description.
struct DescribedSwitch: OperationRunSpecification, Sendable, CustomStringConvertible {
  private let base: SwitchSpecification

  init(_ isOn: Bool) {
    self.base = SwitchSpecification(isOn)
  }

  var description: String { "the light is green" }

  func set(_ isOn: Bool) { self.base.set(isOn) }

  func isSatisfied(in context: OperationContext) -> Bool { self.base.isSatisfied(in: context) }

  func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.base.subscribe(in: context, onChange: onChange)
  }
}

/// Hands out its controls.
private struct Keeping: OperationController, Sendable {
  let controls: Box<OperationControls<IntState>?>

  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    self.controls.value = controls
    return .empty
  }
}
