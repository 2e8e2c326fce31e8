import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationDerivation

/// Stores that leave their client between the look-up of a source and its reading, when another thread clears them.
@Suite(.bounded, .warningsAreIssues)
struct FoundStoreTests {
  private let client = OperationClient.automatic()
  private let cell = Cell("a", 1)
  private let evaluation = Evaluation(
    of: DerivationNode(name: "d", keptSources: []),
    for: .asking(),
    isAutomatic: false,
    in: DerivationRevision()
  )

  /// A source that was cleared since it was looked up.
  private func cleared(wasInClient: Bool = true) -> FoundStore<QueryState<Int, any Error>> {
    let store = self.client.store(for: self.cell.query)
    store.currentValue = 1
    self.client.clearStore(with: self.cell.query.path)
    return FoundStore(store: store, wasInClient: wasInClient)
  }

  private var isOutdated: Bool {
    if case .outdated = self.evaluation.consistency { true } else { false }
  }

  @Test
  func `A value that is read of a store that was cleared meanwhile lets the body be called again`() async throws {
    let value = await self.evaluation.read(self.cleared(), in: OperationContext()).value
    #expect(try value.get() == 1 && self.isOutdated)
  }

  @Test
  func `A state that is read of a store that was cleared meanwhile lets the body be called again`() {
    let state = self.evaluation.state(of: self.cleared(), in: OperationContext())
    #expect(state.currentValue == 1 && self.isOutdated)
  }

  @Test
  func `A store that its cache has dropped at once is read once, without becoming a source`() async throws {
    let value = await self.evaluation.read(self.cleared(wasInClient: false), in: OperationContext()).value
    let commit = self.evaluation.commit(hasFailed: false)
    #expect(try value.get() == 1 && !self.isOutdated && commit.readings.isEmpty)
  }
}
