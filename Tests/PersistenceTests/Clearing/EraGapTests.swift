import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What a process does in the moments around a removal of all values that another process makes.
@Suite(.bounded, .warningsAreIssues) struct EraGapTests {
  private let clock = ManualClock()
  private let base = InMemoryStorage()
  private let (first, second): (Program, Program)
  private let (firstStorage, secondStorage): (SharedStorage, SharedStorage)

  init() {
    (self.firstStorage, self.secondStorage) = (SharedStorage(self.base), SharedStorage(self.base))
    self.first = Program(self.firstStorage, clock: self.clock)
    self.second = Program(self.secondStorage, clock: self.clock)
  }

  @Test func `A store that is made when the process hears of the removal does not show what was being written`()
    async throws
  {
    let other = Program(self.secondStorage, clock: self.clock)
    #expect(other.store(Script(), 2).currentValue == nil)
    self.second.store().currentValue = "secret"
    #expect(await self.second.client.persistence.flush())
    try await self.first.client.clearEverything()
    self.second.store().currentValue = "secret, later"
    let shown = Log<String?>()
    let subscription = self.second.client.onNotice { [client = other.client] notice in
      guard notice.name == .storageCleared else { return }
      let query = Script().query(path: ["text", 1]).stale(after: .seconds(60)).persisted(as: "text", version: 1)
      shown.append(client.store(for: query).currentValue)
    }
    #expect(await !self.second.client.persistence.flush())
    expect(shown.all, equals: [nil])
    subscription.cancel()
  }
}
