import OperationCore
import OperationTesting
import Testing

/// `.rerunOnChange(of:)`: run again when a condition comes to hold.
@Suite(.timeLimit(.minutes(1)), .warningsAreIssues)
struct RerunOnChangeTests {
  private let script = IntScript()
  private let specification = SwitchSpecification(false)

  @Test
  func `A stale store with subscribers runs when the condition comes to hold`() async throws {
    let store = IntStore.detached(query: self.script.query().rerunOnChange(of: self.specification))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    #expect(self.script.runCount == 0)
    self.specification.set(true)
    try await self.script.next().succeed(1)
    try await recorder.first { $0.digest == .ended }
    self.specification.set(false)
    self.specification.announce()
    #expect(!store.isLoading)
    self.specification.set(true)
    self.specification.announce()
    try await self.script.next().succeed(2)
    try await recorder.firstState { $0.currentValue == 2 }
    #expect(self.script.runCount == 2)
  }

  @Test
  func `A fresh store does not run`() {
    let query = self.script.query().stale(after: .seconds(1_000)).rerunOnChange(of: self.specification)
    let store = IntStore.detached(query: query)
    store.currentValue = 1
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.specification.set(true)
    #expect(!store.isLoading)
  }

  @Test
  func `A store without subscribers does not run`() {
    let store = IntStore.detached(query: self.script.query().rerunOnChange(of: self.specification))
    self.specification.set(true)
    #expect(!store.isLoading)
    #expect(self.script.runCount == 0)
  }

  @Test
  func `A store does not run where automatic running is disabled`() {
    let query = self.script.query().rerunOnChange(of: self.specification).disableAutomaticRunning()
    let store = IntStore.detached(query: query)
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    self.specification.set(true)
    #expect(!store.isLoading)
  }

  @Test
  func `A run that is there is joined, and kept for the subscribers`() async throws {
    let store = IntStore.detached(query: self.script.query().rerunOnChange(of: self.specification))
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    self.specification.set(true)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    #expect(!run.isCancelled)
    run.succeed(3)
    try await recorder.first { $0.digest == .ended }
    #expect(self.script.runCount == 1)
    #expect(store.currentValue == 3)
  }

  @Test
  func `The condition is followed while the store lives, and no longer`() {
    var store: IntStore? = .detached(query: self.script.query().rerunOnChange(of: self.specification))
    #expect(self.specification.observerCount == 1)
    #expect(store?.path != nil)
    store = nil
    #expect(self.specification.observerCount == 0)
  }
}
