import CoreFixtures
import Foundation
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `snapshot`: the stores of a client, for debugging and for tools.
@Suite(.bounded, .warningsAreIssues)
struct SnapshotTests {
  @Test
  func `A snapshot describes each store`() async throws {
    let clock = ManualClock()
    let client = OperationClient()
    let script = IntScript()
    let fresh = client.store(for: NumberQuery(1).stale(after: .seconds(60)).manualTime(clock))
    try await fresh.fetch()
    let failed = client.store(for: TextQuery("a").manualTime(clock))
    failed.setResult(to: .failure(Refused(code: 3)))
    let running = client.store(for: script.automaticQuery(path: ["scripted"]))
    let subscription = running.subscribe(with: IntRecorder().handler)
    let run = try await script.next()

    let stores = client.snapshot().stores
    expect(stores.count, equals: 3)
    let number = try #require(stores.first { $0.path == "\(NumberQuery(1).path)" })
    expect(number.kind, equals: "NumberQuery")
    expect(number.status, equals: .success)
    #expect(!number.isStale)
    expect(number.valueUpdateCount, equals: 1)
    expect(number.valueLastUpdatedAt, equals: clock.now())
    expect(number.errorLastUpdatedAt, equals: nil)
    let text = try #require(stores.first { $0.path == "\(TextQuery("a").path)" })
    expect(text.status, equals: .failure)
    expect(text.error, equals: "Refused(code: 3)")
    #expect(text.isStale)
    expect(text.errorUpdateCount, equals: 1)
    expect(text.errorLastUpdatedAt, equals: clock.now())
    let loading = try #require(stores.first { $0.status == .loading })
    expect(loading.subscriberCount, equals: 1)
    #expect(loading.kind.hasPrefix("ScriptedQuery"))
    subscription.cancel()
    try await run.cancelled()
  }

  @Test
  func `A snapshot tells of no staleness where an operation never runs because its value is old`() throws {
    let client = OperationClient()
    client.store(for: Ordered(), initialState: QueryState(initialValue: nil)).currentValue = 1
    client.store(for: NumberQuery(1)).currentValue = 4
    let snapshot = client.snapshot()
    let lines = snapshot.description.split(separator: "\n")
    expect(lines.filter { $0.contains("stale") || $0.contains("fresh") }.count, equals: 1)
    let ordered = try #require(snapshot.stores.first { $0.kind == "Ordered" })
    #expect(!ordered.canBeStale)
    #expect(!ordered.isStale)
  }

  @Test
  func `A snapshot can be encoded, and read back`() throws {
    let client = OperationClient()
    client.store(for: NumberQuery(1)).currentValue = 4
    _ = client.store(for: TextQuery("a"))
    let snapshot = client.snapshot()
    let data = try JSONEncoder().encode(snapshot)
    try expect(JSONDecoder().decode(OperationClientSnapshot.self, from: data), equals: snapshot)
  }

  @Test
  func `A snapshot describes itself, one line for each store`() {
    let client = OperationClient()
    _ = client.store(for: NumberQuery(1))
    _ = client.store(for: TextQuery("a"))
    let lines = client.snapshot().description.split(separator: "\n")
    expect(lines.count, equals: 2)
    #expect(lines.contains { $0.contains("NumberQuery") && $0.contains("idle") })
    #expect(!OperationClient().snapshot().description.isEmpty)
  }

  @Test
  func `A snapshot is a value: what happens later does not change it`() {
    let client = OperationClient()
    let store = client.store(for: NumberQuery(1))
    let snapshot = client.snapshot()
    store.currentValue = 1
    expect(snapshot.stores.map(\.status), equals: [.idle])
    expect(client.snapshot().stores.map(\.status), equals: [.success])
  }
}

/// An operation that runs only when it is called, as a mutation does.
private struct Ordered: StatefulOperationRequest, Hashable {
  typealias State = QueryState<Int, any Error>

  var allowsAutomaticRuns: Bool { false }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int { 1 }
}
