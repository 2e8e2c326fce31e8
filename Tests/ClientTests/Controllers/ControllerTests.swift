import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Controllers work on the state of a store from outside.
@Suite(.bounded, .warningsAreIssues)
struct ControllerTests {
  @Test
  func `A controller yields values, errors and results`() {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let store = IntStore.detached(query: IntScript().query(path: ["q"]).controlled(by: controller))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let controls = controller.controls
    controls.yield(1)
    expect(store.currentValue, equals: 1)
    controls.yield(throwing: Refused(code: 1))
    #expect(store.error is Refused)
    controls.yield(with: .success(2))
    #expect(store.error == nil)
    controls.yield(nil)
    expect(store.currentValue, equals: nil)
    controls.yield(3)
    controls.yieldResetState()
    expect(store.valueUpdateCount, equals: 0)
    expect(
      recorder.digests,
      equals: [
        .state(nil), .state(1), .state(1, error: "Refused(code: 1)"), .state(2), .state(nil), .state(3), .state(nil),
      ]
    )
  }

  @Test
  func `Controls show what the store shows`() {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let query = IntScript().query(path: ["q"]).stale(after: .seconds(100)).controlled(by: controller)
    let store = IntStore.detached(query: query, initialValue: 4)
    let controls = controller.controls
    expect(controls.path, equals: ["q"])
    expect(controls.state.currentValue, equals: 4)
    #expect(controls.isStale)
    expect(controls.subscriberCount, equals: 0)
    #expect(controls.canYieldRerun)
    store.context[NumberKey.self] = 3
    expect(controls.context[NumberKey.self], equals: 3)
    controls.yield(5)
    #expect(!controls.isStale)
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    expect(controls.subscriberCount, equals: 1)
    #expect(controls.canYieldRerun)
  }

  @Test
  func `A yielded value is dated by the clock of the store`() {
    let clock = ManualClock()
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let store = IntStore.detached(query: IntScript().query().manualTime(clock).controlled(by: controller))
    clock.advance(by: .seconds(5))
    controller.controls.yield(1)
    expect(store.valueLastUpdatedAt, equals: clock.now())
  }

  @Test
  func `A rerun happens with subscribers and without`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let script = IntScript(default: .value(1))
    let store = IntStore.detached(query: script.query().controlled(by: controller))
    let controls = controller.controls
    try await expect(controls.yieldRerun(), equals: 1)
    try await expect(controls.yieldRerunTask()?.runIfNeeded(), equals: 1)
    expect(script.runCount, equals: 2)
    // What runs for subscribers does nothing without any.
    controls.rerunForSubscribers()
    controls.rerunForSubscribersSinceChange()
    #expect(!store.isLoading)
    expect(script.runCount, equals: 2)
  }

  @Test
  func `A rerun depends on the specification of automatic running`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let (script, specification) = (IntScript(default: .value(1)), SwitchSpecification(false))
    let store = IntStore.detached(
      query: script.query().enableAutomaticRunning(onlyWhen: specification).controlled(by: controller)
    )
    #expect(!controller.controls.canYieldRerun)
    try await expect(controller.controls.yieldRerun(), equals: nil)
    specification.set(true)
    #expect(controller.controls.canYieldRerun)
    try await expect(controller.controls.yieldRerun(), equals: 1)
    expect(store.currentValue, equals: 1)
  }

  @Test
  func `A rerun with subscribers begins when its task is run`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let script = IntScript(default: .value(1))
    let store = IntStore.detached(query: script.query().controlled(by: controller))
    let controls = controller.controls
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    try await expect(controls.yieldRerun(), equals: 1)
    let task = try #require(controls.yieldRerunTask())
    expect(script.runCount, equals: 1)
    try await expect(task.runIfNeeded(), equals: 1)
    expect(script.runCount, equals: 2)
  }

  @Test
  func `A rerun throws what the operation throws, and has the context that it is given`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let script = IntScript()
    let store = IntStore.detached(query: script.query().controlled(by: controller))
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    var context = OperationContext()
    context[NumberKey.self] = 8
    let rerun = Task { [context] in try await controller.controls.yieldRerun(with: context) }
    let run = try await script.next()
    expect(run.context[NumberKey.self], equals: 8)
    run.fail(Refused(code: 7))
    await #expect(throws: Refused(code: 7)) { try await rerun.finished() }
  }

  @Test
  func `A rerun is not allowed where automatic running is disabled`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let store = IntStore.detached(query: IntScript().query().disableAutomaticRunning().controlled(by: controller))
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    #expect(!controller.controls.canYieldRerun)
    try await expect(controller.controls.yieldRerun(), equals: nil)
  }

  @Test
  func `Subscribers keep a rerun when its controller is cancelled, and end it when they leave`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let script = IntScript()
    let store = IntStore.detached(query: script.query().controlled(by: controller))
    let subscription = store.subscribe(with: IntRecorder().handler)
    let rerun = Task { try await controller.controls.yieldRerun() }
    let run = try await script.next()
    rerun.cancel()
    await #expect(throws: CancellationError.self) { try await rerun.finished() }
    #expect(!run.isCancelled)
    #expect(store.isLoading)
    subscription.cancel()
    try await run.cancelled()
    #expect(store.status.isIdle)
  }

  @Test
  func `A value that a controller yields during a run stays when that is cancelled`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let script = IntScript()
    let store = IntStore.detached(query: script.query().controlled(by: controller))
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    run.yield(1)
    controller.controls.yield(2)
    run.yield(3)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: 2)
    expect(store.valueUpdateCount, equals: 1)
  }

  @Test
  func `Exclusive access joins a read and a write`() async {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let store = IntStore.detached(query: IntScript().query().controlled(by: controller), initialValue: 0)
    let controls = controller.controls
    await withDiscardingTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<1_000 { controls.withExclusiveAccess { $0.yield(($0.state.currentValue ?? 0) + 1) } }
        }
      }
    }
    expect(store.currentValue, equals: 2_000)
  }

  @Test
  func `A controller below a default value works on the base state`() async throws {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let script = IntScript(default: .value(6))
    let store = OperationStore.detached(operation: script.query().controlled(by: controller).defaultValue(-1))
    let controls = controller.controls
    expect(controls.state.currentValue, equals: nil)
    controls.yield(3)
    expect(store.currentValue, equals: 3)
    controls.yield(nil)
    expect(store.currentValue, equals: -1)
    controls.yield(throwing: Refused())
    #expect(store.error is Refused)
    controls.yieldResetState()
    #expect(store.error == nil)
    let subscription = store.subscribe(with: OperationEventHandler())
    defer { subscription.cancel() }
    try await expect(controls.yieldRerun(), equals: 6)
    expect(controls.withExclusiveAccess { $0.state.currentValue }, equals: 6)
    expect(store.currentValue, equals: 6)
  }

  @Test
  func `A controller above a default value works on the state with it`() {
    let controller = HandingController<DefaultOperationState<IntState>>()
    defer { controller.drop() }
    let store = OperationStore.detached(operation: IntScript().query().defaultValue(-1).controlled(by: controller))
    expect(controller.controls.state.currentValue, equals: -1)
    controller.controls.yield(4)
    expect(store.currentValue, equals: 4)
    expect(store.state.base.currentValue, equals: 4)
  }

  @Test
  func `Controllers and handlers of another state are reported and left out`() {
    let controller = HandingController<QueryState<String, any Error>>()
    expectWarning(.stateMismatch) {
      _ = IntStore.detached(query: IntScript().query().context { $0.operationControllers.append(controller) })
    }
    #expect(!controller.isControlling)
  }

  @Test
  func `All controllers of an operation work, the innermost first`() {
    let log = Log<String>()
    let query = IntScript().query()
      .controlled(by: NotingController(name: "inner", log: log))
      .controlled(by: NotingController(name: "outer", log: log))
    _ = IntStore.detached(query: query)
    expect(log.all.prefix(2), equals: ["inner begins", "outer begins"])
    expect(Set(log.all.dropFirst(2)), equals: ["inner ends", "outer ends"])
  }

  @Test
  func `An observer of activity that an earlier one cancels is no longer called`() {
    let controller = HandingController<IntState>()
    defer { controller.drop() }
    let store = IntStore.detached(query: IntScript().query().controlled(by: controller))
    let second = Box<OperationSubscription?>(nil)
    let first = controller.controls.observeActivity { second.value?.cancel() }
    second.value = controller.controls.observeActivity { Issue.record("It was cancelled before.") }
    store.subscribe(with: IntRecorder().handler).cancel()
    first.cancel()
  }

  @Test
  func `A controller may use its controls while it begins`() {
    let store = IntStore.detached(query: IntScript().query().controlled(by: EagerController()))
    expect(store.currentValue, equals: 12)
  }
}

private struct NotingController: OperationController, Sendable {
  let name: String
  let log: Log<String>

  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    self.log.append("\(self.name) begins")
    return OperationSubscription { [self] in self.log.append("\(self.name) ends") }
  }
}

private struct EagerController: OperationController, Sendable {
  func control(with controls: OperationControls<IntState>) -> OperationSubscription {
    controls.yield(12)
    controls.rerunForSubscribers()
    return controls.observeActivity {}
  }
}
