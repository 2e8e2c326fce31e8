import CoreFixtures
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// Waits of a run for permits and conditions of a modifier's own.
@Suite(.bounded, .warningsAreIssues)
struct AwaitingTests {
  private let gate = Gate()
  private let isWaiting = Gate()

  private func store(
    sharing: Bool = false,
    _ body: @escaping @Sendable (OperationContext) async throws -> Int
  ) -> IntStore {
    let query = QueryOperation<Int, any Error>("waits") { context in try await body(context) }
    return IntStore.detached(query: query.context { if sharing { $0.operationRunSharing = OperationRunSharing() } })
  }

  @Test
  func `A wait is shown until it ends`() async throws {
    let (gate, isWaiting) = (self.gate, self.isWaiting)
    let store = self.store { context in
      let permit = try await context.awaiting("a permit of the printer") {
        isWaiting.open()
        try await gate.wait()
        return 7
      }
      #expect(!context.isWaitShown)
      return permit
    }
    let fetch = Task.immediate { try await store.fetch() }
    try await isWaiting.wait()
    #expect(store.explain().description.contains("a permit of the printer"))
    #expect(!store.isPaused)
    gate.open()
    try await expect(fetch.finished(), equals: 7)
  }

  @Test(arguments: [false, true])
  func `A run that waits for a condition is paused until it holds`(_ sharing: Bool) async throws {
    let (gate, isWaiting) = (self.gate, self.isWaiting)
    let store = self.store(sharing: sharing) { context in
      try await context.awaiting("the lid is closed", isPause: true) {
        isWaiting.open()
        try await gate.wait()
      }
      expect(context.runningStore(of: IntState.self)?.isPaused, equals: false)
      return 1
    }
    let fetch = Task.immediate { try await store.fetch() }
    try await isWaiting.wait()
    #expect(store.isPaused)
    #expect(store.explain().description.contains("the lid is closed"))
    gate.open()
    try await expect(fetch.finished(), equals: 1)
  }

  @Test(arguments: [false, true])
  func `The error of a wait is thrown, and the wait is over`(_ isPause: Bool) async throws {
    let store = self.store { context in
      do {
        try await context.awaiting("a permit", isPause: isPause) { () throws(Refused) in throw Refused(code: 3) }
      } catch {
        expect(error as? Refused, equals: Refused(code: 3))
      }
      #expect(!context.isWaitShown)
      expect(context.runningStore(of: IntState.self)?.isPaused, equals: false)
      return 1
    }
    try await expect(store.fetch(), equals: 1)
  }

  @Test(arguments: [false, true])
  func `Outside of a store it only waits`(_ isPause: Bool) async throws {
    await expect(OperationContext().awaiting("a permit", isPause: isPause) { 4 }, equals: 4)
  }

  @Test @MainActor
  func `The wait keeps the isolation of the caller`() async throws {
    let actor = await OperationContext().awaiting("a permit") { () -> (any Actor)? in
      MainActor.assertIsolated()
      return #isolation
    }
    #expect(actor === MainActor.shared)
  }
}

extension OperationContext {
  /// Whether an explanation of the store shows a permit that the run waits for.
  fileprivate var isWaitShown: Bool {
    self.runningStore(of: IntState.self)?.explain().description.contains("a permit") == true
  }
}
