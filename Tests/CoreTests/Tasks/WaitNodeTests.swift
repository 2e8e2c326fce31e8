import CoreFixtures
import Dispatch
import Foundation
import OperationCore
import OperationEvents
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Nodes of the wait graph that an author outside of the package writes.
@Suite(.bounded, .warningsAreIssues)
struct WaitNodeTests {
  /// Where a run is.
  enum Home: CaseIterable {
    case detached, sharing, inClient

    /// A store at a path of one test.
    func store(_ name: String, _ body: @escaping @Sendable (OperationContext) async throws -> Int) -> IntStore {
      let query = QueryOperation<Int, any Error>(name) { context in try await body(context) }
      let sharing = query.context { if self == .sharing { $0.operationRunSharing = OperationRunSharing() } }
      return self == .inClient ? OperationClient().store(for: sharing) : .detached(query: sharing)
    }
  }

  private let turnstile = Turnstile()

  /// A store whose runs pass the turnstile.
  private func passer(_ home: Home, _ name: String = "passer") -> IntStore {
    let turnstile = self.turnstile
    return home.store(name) { context in
      try await turnstile.enter(context)
      turnstile.leave()
      return 1
    }
  }

  @Test(arguments: Home.allCases, Home.allCases)
  func `A run that holds a queue gets a cycle if it calls one that waits in it`(
    _ home: Home,
    _ innerHome: Home
  ) async throws {
    let (turnstile, inner) = (self.turnstile, self.passer(innerHome))
    let holder = home.store("holder") { context in
      try await turnstile.enter(context)
      defer { turnstile.leave() }
      return try await inner.fetch()
    }
    let error = await expectWarning(.taskCycle) {
      await #expect(throws: OperationCycleError.self) { try await holder.fetch() }
    }
    expect(error?.operationNames.first, equals: "the turnstile")
    expect(error?.operationNames.count, equals: 4)
    // Nothing is left of the holder.
    try await expect(inner.fetch(), equals: 1)
  }

  @Test(arguments: Home.allCases)
  func `A child task of the holder closes the cycle as well`(_ home: Home) async throws {
    let (turnstile, inner) = (self.turnstile, self.passer(home))
    let holder = Home.inClient.store("holder") { context in
      try await turnstile.enter(context)
      defer { turnstile.leave() }
      async let first = inner.fetch()
      return try await first
    }
    await expectWarning(.taskCycle) {
      _ = await #expect(throws: OperationCycleError.self) { try await holder.fetch() }
    }
  }

  @Test(arguments: Home.allCases)
  func `Of two runs that wait for what the other one holds, one gets the cycle`(_ home: Home) async throws {
    let queues = (Turnstile(), Turnstile())
    let gate = Gate()
    @Sendable func work(_ own: Turnstile, _ other: Turnstile, _ context: OperationContext) async throws -> Int {
      try await own.enter(context)
      defer { own.leave() }
      try await gate.wait()
      try await other.enter(context)
      other.leave()
      return 1
    }
    let stores = [
      home.store("first") { try await work(queues.0, queues.1, $0) },
      home.store("second") { try await work(queues.1, queues.0, $0) },
    ]
    let recorder = WarningRecorder()
    let results = try await recorder.recording {
      let calls = stores.map { store in Task.immediate { try await store.fetch() } }
      try await gate.arrivals(count: 2)
      gate.open()
      var results: [Result<Int, any Error>] = []
      for call in calls {
        do { results.append(.success(try await call.finished())) } catch { results.append(.failure(error)) }
      }
      return results
    }
    let failures = results.count { result in
      if case .failure(let error) = result { error is OperationCycleError } else { false }
    }
    #expect(failures >= 1)
    #expect(recorder.warnings.allSatisfy { $0.code == .taskCycle })
  }

  @Test(arguments: Home.allCases)
  func `A wait that has ended is no edge`(_ home: Home) async throws {
    let (first, second) = (Turnstile(), Turnstile())
    let (holdsSecond, mayEnd) = (Gate(), Gate())
    let former = home.store("former") { context in
      // It has waited for the first, and does so no more.
      try await first.enter(context)
      first.leave()
      try await second.enter(context)
      holdsSecond.open()
      try await mayEnd.wait()
      second.leave()
      return 1
    }
    let isTaken = Gate()
    let earlier = home.store("earlier") { context in
      try await first.enter(context)
      try await isTaken.wait()
      first.leave()
      return 1
    }
    let began = Task.immediate { try await earlier.fetch() }
    let waits = Task.immediate { try await former.fetch() }
    isTaken.open()
    try await holdsSecond.wait()
    let later = home.store("later") { context in
      try await first.enter(context)
      defer { first.leave() }
      // The one that holds the second would be waited for by it, if its wait for the first were still there.
      try await second.enter(context)
      second.leave()
      return 1
    }
    let last = Task.immediate { try await later.fetch() }
    mayEnd.open()
    try await expect(last.finished(), equals: 1)
    try await expect(waits.finished(), equals: 1)
    try await expect(began.finished(), equals: 1)
  }

  @Test(arguments: Home.allCases)
  func `The wait is shown while it lasts`(_ home: Home) async throws {
    let mayLeave = Gate()
    let turnstile = self.turnstile
    let holder = home.store("holder") { context in
      try await turnstile.enter(context)
      try await mayLeave.wait()
      turnstile.leave()
      return 1
    }
    let first = Task.immediate { try await holder.fetch() }
    let passer = self.passer(home)
    let second = Task.immediate { try await passer.fetch() }
    #expect(passer.explain().description.contains("the turnstile"))
    mayLeave.open()
    try await expect(second.finished(), equals: 1)
    #expect(!passer.explain().description.contains("the turnstile"))
    _ = try await first.finished()
  }

  @Test(arguments: Home.allCases)
  func `What the work of a node waits for, the node waits for`(_ home: Home) async throws {
    let batch = BatchNode()
    let inner = home.store("inner") { context in
      try await context.awaiting(batch, for: { "the batch" }) { 1 }.get()
    }
    let sender = home.store("sender") { context in
      try await context.performing(workOf: batch) { try await inner.fetch() }
    }
    let error = await expectWarning(.taskCycle) {
      await #expect(throws: OperationCycleError.self) { try await sender.fetch() }
    }
    expect(error?.operationNames, equals: ["the batch", "inner", "the batch"])
    // Outside of the work the wait closes no cycle.
    try await expect(inner.fetch(), equals: 1)
  }

  @Test(arguments: Home.allCases, [false, true])
  func `A child task of a node's work closes the cycle of the run`(_ home: Home, _ isNested: Bool) async throws {
    let (turnstile, inner) = (self.turnstile, self.passer(home))
    let holder = home.store("holder") { context in
      try await turnstile.enter(context)
      defer { turnstile.leave() }
      return try await context.performing(workOf: BatchNode()) {
        guard isNested else {
          async let first = inner.fetch()
          return try await first
        }
        return try await context.performing(workOf: BatchNode()) {
          async let first = inner.fetch()
          return try await first
        }
      }
    }
    await expectWarning(.taskCycle) {
      _ = await #expect(throws: OperationCycleError.self) { try await holder.fetch() }
    }
    try await expect(inner.fetch(), equals: 1)
  }

  @Test(arguments: Home.allCases)
  func `What child tasks of a node's work wait for, its run waits for`(_ home: Home) async throws {
    let (turnstile, mayEnter, isCalled) = (self.turnstile, Gate(), Gate())
    let inner = home.store("inner") { context in
      isCalled.open()
      try await mayEnter.wait()
      try await turnstile.enter(context)
      turnstile.leave()
      return 1
    }
    let holder = home.store("holder") { context in
      try await turnstile.enter(context)
      defer { turnstile.leave() }
      return try await context.performing(workOf: BatchNode()) {
        async let first = inner.fetch()
        return try await first
      }
    }
    await expectWarning(.taskCycle) {
      let fetch = Task.immediate { try await holder.fetch() }
      try? await isCalled.wait()
      mayEnter.open()
      _ = await #expect(throws: OperationCycleError.self) { try await fetch.finished() }
    }
  }

  @Test
  func `Children of a run are known, although a child has asked for its node first`() async throws {
    let (turnstile, inner) = (self.turnstile, self.passer(.detached))
    let store = Home.inClient.store("holder") { context in
      async let node = context.runNode
      _ = await node
      try await turnstile.enter(context)
      defer { turnstile.leave() }
      async let first = inner.fetch()
      return try await first
    }
    await expectWarning(.taskCycle) {
      _ = await #expect(throws: OperationCycleError.self) { try await store.fetch() }
    }
  }

  @Test(arguments: [false, true])
  func `Nodes around a run lend what they hold while it waits, the inner one first`(_ isPause: Bool) async throws {
    let log = Log<String>()
    let (outer, inner) = (LendingNode("outer", log), LendingNode("inner", log))
    let store = Home.inClient.store("worker") { context in
      await context.performing(workOf: outer) {
        await context.performing(workOf: inner) {
          await context.awaiting("a permit", isPause: isPause) {
            log.append("waits")
            return 1
          }
        }
      }
    }
    try await expect(store.fetch(), equals: 1)
    expect(
      log.all,
      equals: [
        "inner lends for a permit", "outer lends for a permit", "waits", "outer goes on", "inner goes on",
      ]
    )
  }

  @Test
  func `A node lends while a run waits for a condition`() async throws {
    let log = Log<String>()
    let node = LendingNode("node", log)
    let condition = SwitchSpecification(false)
    let isWaiting = Gate()
    let store = Home.inClient.store("worker") { context in
      await context.performing(workOf: node) {
        isWaiting.open()
        let outcome = await context.pause(until: condition)
        return outcome == .satisfied ? 1 : 0
      }
    }
    let fetch = Task.immediate { try await store.fetch() }
    try await isWaiting.wait()
    expect(log.all.count, equals: 1)
    condition.set(true)
    try await expect(fetch.finished(), equals: 1)
    expect(log.all.last, equals: "node goes on")
  }

  @Test
  func `A node whose work has ended is not asked to go on`() async throws {
    let log = Log<String>()
    let node = LendingNode("node", log)
    let (isWaiting, mayGoOn) = (Gate(), Gate())
    let left = Mutex<Task<Void, any Error>?>(nil)
    let store = Home.inClient.store("worker") { context in
      try await context.performing(workOf: node) {
        let task = Task.immediate {
          try await context.awaiting("a permit") {
            isWaiting.open()
            try await mayGoOn.wait()
          }
        }
        left.withLock { $0 = task }
        try await isWaiting.wait()
        return 1
      }
    }
    try await expect(store.fetch(), equals: 1)
    mayGoOn.open()
    try await left.withLock { $0 }?.value
    expect(log.all, equals: ["node lends for a permit"])
  }

  @Test
  func `An edge to a run is made without the lock of its store`() async throws {
    let nodes = Log<RunNode?>()
    let store = Home.inClient.store("worker") { context in
      nodes.append(context.runNode)
      return 1
    }
    try await store.fetch()
    let node = try #require(nodes.all.first ?? nil)
    let isMade = DispatchSemaphore(value: 0)
    let wasMade = store.withExclusiveAccess { _ in
      Thread.detachNewThread {
        _ = WaitEdge(to: node)
        isMade.signal()
      }
      return isMade.waitForSignal()
    }
    #expect(wasMade)
  }

  @Test
  func `Outside of a store a wait only waits, and there is no node of a run`() async throws {
    expect(OperationContext().runNode, equals: nil)
    try await self.turnstile.enter(OperationContext())
    self.turnstile.leave()
    let result = try await OperationContext().awaiting(self.turnstile, for: { "the turnstile" }) { 3 }.get()
    expect(result, equals: 3)
  }

  @Test(arguments: Home.allCases)
  func `A run is one node, which it and its copies have, and another run has another`(_ home: Home) async throws {
    let nodes = Log<RunNode?>()
    let store = home.store("runs") { context in
      nodes.append(context.runNode)
      var next = context
      next.beginNextAttempt(after: nil)
      nodes.append(next.runNode)
      return 1
    }
    _ = try await store.fetch()
    _ = try await store.fetch()
    let all = nodes.all
    #expect(all.count == 4 && all[0] != nil)
    expect(all[0], equals: all[1])
    expect(all[2], equals: all[3])
    #expect(all[0] != all[2])
  }
}

// MARK: - What the author writes

/// A queue without cancellation, which a real one needs: see `Examples/third-party-modifier`.
private final class Turnstile: WaitNode {
  private struct Line {
    var isTaken = false
    var holder: RunNode?
    var waiting: [(run: RunNode?, turn: CheckedContinuation<Void, Never>)] = []
  }

  private let line = Mutex(Line())

  var waitName: String? { "the turnstile" }

  var waits: [WaitEdge] { self.line.withLock { $0.holder }.map { [WaitEdge(to: $0)] } ?? [] }

  nonisolated(nonsending) func enter(_ context: OperationContext) async throws {
    try await context.awaiting(self, for: { "the turnstile" }) {
      await withCheckedContinuation { turn in
        let isFree = self.line.withLock { line in
          if line.isTaken { line.waiting.append((context.runNode, turn)) } else { line.holder = context.runNode }
          defer { line.isTaken = true }
          return !line.isTaken
        }
        if isFree { turn.resume() }
      }
    }.get()
  }

  func leave() {
    let turn = self.line.withLock { line in
      let next = line.waiting.isEmpty ? nil : line.waiting.removeFirst()
      (line.isTaken, line.holder) = (next != nil, next?.run)
      return next?.turn
    }
    turn?.resume()
  }
}

private final class BatchNode: WaitNode {
  var waitName: String? { "the batch" }
  var waits: [WaitEdge] { [] }
  var isQueue: Bool { false }
}

private final class LendingNode: WaitNode {
  let name: String
  let log: Log<String>

  init(_ name: String, _ log: Log<String>) {
    (self.name, self.log) = (name, log)
  }

  var waitName: String? { self.name }
  var waits: [WaitEdge] { [] }

  func workWillWait(for wait: StoreWait) { self.log.append("\(self.name) lends for \(wait.subject())") }

  nonisolated(nonsending) func workGoesOn(after wait: StoreWait) async { self.log.append("\(self.name) goes on") }
}
