import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Values that are handed over while a run has yielded a newer one.
@Suite(.bounded, .warningsAreIssues) struct HydrationBelowYieldsTests {
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 1_000))
  private let script = Script()

  private func client() -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    return OperationClient(defaultContext: context, storeCache: KeepingCache())
  }

  private func store(in client: OperationClient) -> TextStore {
    client.store(
      for: self.script.query(path: ["text", 1]).stale(after: .seconds(60)).disableAutomaticRunning()
        .hydratable(as: "text")
    )
  }

  @Test func `A value that is older than a yielded one is there when that is taken back`() async throws {
    let (server, reader) = (self.client(), self.client())
    let store = self.store(in: reader)
    store.currentValue = "oldest"
    self.clock.advance(by: .seconds(1))
    self.store(in: server).currentValue = "handed over"
    self.clock.advance(by: .seconds(1))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    run.yield("yielded")
    expect(reader.hydrate(server.dehydrate()).outdatedCount, equals: 1)
    expect(store.currentValue, equals: "yielded")
    fetch.cancel()
    _ = try? await fetch.value
    expect(store.currentValue, equals: "handed over")
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 1_001))
  }
}
