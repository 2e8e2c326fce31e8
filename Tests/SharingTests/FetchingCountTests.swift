import Observation
import OperationTesting
import SharingOperation
import TestFixtures
import Testing

/// `ObservableFetchingCount`: the number of stores with a run under way, observed on the main actor.
@MainActor
@Suite(.bounded, .warningsAreIssues)
struct ObservableFetchingCountTests {
  private let client = makeClient(runsAutomatically: false)

  @Test func `It shows the current number, and changes between two jobs of the main actor`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = self.client.store(for: script.query(path: ["a"]))
    let first = Task { @concurrent in try await store.fetch() }
    let run = try await script.next()
    let fetching = ObservableFetchingCount(matching: ["a"], client: self.client)
    expect(fetching.count, equals: 1)
    #expect(fetching.isFetching)

    let changed = Gate()
    withObservationTracking {
      _ = fetching.isFetching
    } onChange: {
      changed.open()
    }
    run.succeed(1)
    try await changed.wait()
    _ = try await first.value
    expect(fetching.count, equals: 0)
  }

  @Test func `Several changes notify once, and none if the number is the same in the end`() async throws {
    let fetching = ObservableFetchingCount(client: self.client)
    let scripts = (0..<3).map { _ in OperationScript<Int, any Error>() }
    let watcher = Watcher { MainActor.assumeIsolated { _ = fetching.count } }
    let tasks = scripts.map { Self.begin($0, in: self.client) }
    expect(fetching.count, equals: 0)
    let changed = Gate()
    withObservationTracking {
      _ = fetching.count
    } onChange: {
      changed.open()
    }
    try await changed.wait()
    expect(fetching.count, equals: 3)
    expect(watcher.count, equals: 1)
    for script in scripts { try await script.next().succeed(1) }
    for task in tasks { try await task.value }
  }

  @Test func `It is released with its last reference, and counts no longer`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let holder = Holder(ObservableFetchingCount(client: self.client), lifetimes.token())
      expect(holder.fetching.count, equals: 0)
    }
    try await lifetimes.noneAlive()
    let store = self.client.store(for: OperationScript<Int, any Error>(default: .value(1)).query())
    try await store.fetch()
  }

  /// Begins a run before it returns, which a task of the main actor would leave to another thread.
  private nonisolated static func begin(
    _ script: OperationScript<Int, any Error>,
    in client: OperationClient
  ) -> Task<Void, any Error> {
    Task.immediate { _ = try await client.store(for: script.query()).fetch() }
  }

  private final class Holder {
    let fetching: ObservableFetchingCount
    let token: LifetimeTracker.Token

    init(_ fetching: ObservableFetchingCount, _ token: LifetimeTracker.Token) {
      self.fetching = fetching
      self.token = token
    }
  }
}
