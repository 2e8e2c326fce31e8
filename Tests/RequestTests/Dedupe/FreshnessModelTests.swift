import OperationCore
import OperationDedupe
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Subscribers, fetches, invalidations and cancellations in any order: when all runs have ended, stores with
/// subscribers are fresh.
@Suite(.bounded, .warningsAreIssues)
struct FreshnessModelTests {
  @Test(arguments: 0..<300)
  func `When all runs have ended, no store with subscribers is stale, and no caller gets data older than its call`(
    seed: UInt64
  ) async throws {
    var generator = SeededGenerator(seed: seed)
    let client = OperationClient()
    let server = Server()
    let query = ReadingQuery(server: server).deduplicated()
      .stale(after: .seconds(1_000_000)).enableAutomaticRunning(onlyWhen: .always(true))
    let store = client.store(for: query)
    var subscriptions: [OperationSubscription] = []
    var calls: [(task: Task<Int, any Error>, oldest: Int)] = []
    var prefetches: [Task<Void, Never>] = []
    for _ in 0..<40 {
      switch Int.random(in: 0..<9, using: &generator) {
      case 0: subscriptions.append(store.subscribe(with: IntRecorder().handler))
      case 1: if !subscriptions.isEmpty { subscriptions.removeFirst().cancel() }
      case 2: calls.append((Task.immediate { try await store.fetch() }, server.version))
      case 3: calls.append((Task.immediate { try await client.ensureValue(for: query) }, server.version))
      case 4: calls.append((Task.immediate { try await store.fetchTask().runIfNeeded() }, server.version))
      case 5:
        server.change()
        client.invalidate()
      case 6: calls.randomElement(using: &generator)?.task.cancel()
      case 7: server.answerOne(using: &generator)
      default: prefetches.append(Task.immediate { await client.prefetch(for: query) })
      }
    }
    server.answerAll()
    for call in calls {
      switch await call.task.result {
      case .success(let value): #expect(value >= call.oldest)
      case .failure(let error): #expect(error is CancellationError)
      }
    }
    for prefetch in prefetches { await prefetch.value }
    await store.settled()
    if !subscriptions.isEmpty {
      #expect(!store.isStale)
      expect(store.currentValue, equals: server.version)
    }
    OperationSubscription.combined(subscriptions).cancel()
  }
}

/// Data that changes, and reads that end when the test answers them.
private final class Server: Sendable {
  private struct State {
    var version = 0
    var gates: [Gate] = []
    var isOpen = false
  }

  private let state = Mutex(State())

  var version: Int { self.state.withLock { $0.version } }

  func change() {
    self.state.withLock { $0.version += 1 }
  }

  /// Returns the version at the time of the call, when the test answers the read.
  func read() async -> Int {
    let (version, gate) = self.state.withLock { state in
      let gate = Gate(isOpen: state.isOpen)
      state.gates.append(gate)
      return (state.version, gate)
    }
    await gate.waitIgnoringCancellation()
    return version
  }

  func answerOne(using generator: inout SeededGenerator) {
    let gates = self.state.withLock { $0.gates.filter { !$0.isOpen } }
    gates.randomElement(using: &generator)?.open()
  }

  func answerAll() {
    let gates = self.state.withLock { state in
      state.isOpen = true
      return state.gates
    }
    for gate in gates { gate.open() }
  }
}

private struct ReadingQuery: QueryRequest {
  let server: Server

  var path: OperationPath { ["reading"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    await self.server.read()
  }
}
