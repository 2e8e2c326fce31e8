import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A store that is requested with other modifiers than it was made with, which debug builds report.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct IgnoredModifiersTests {
  private let client = OperationClient()

  #if DEBUG
    @Test
    func `Modifiers that come too late are reported once, with those that the store was made with`() {
      let store = self.client.store(for: NumberQuery(1).stale(after: .seconds(1)))
      let reports = warnings {
        for _ in 0..<3 {
          #expect(self.client.store(for: NumberQuery(1).stale(after: .seconds(1)).modifier(PassThrough())) === store)
        }
        #expect(self.client.store(for: NumberQuery(1).modifier(PassThrough())) === store)
      }
      #expect(reports.map(\.code) == [.modifiersIgnored])
      let message = reports.first?.message ?? ""
      let request = #"NumberQuery is requested at the path ["numbers", 1] with ContextModifier, PassThrough,"#
      #expect(message.contains(request))
      #expect(message.contains("was made with ContextModifier."))
    }

    @Test
    func `Each path is reported for itself`() {
      for number in 1...3 { _ = self.client.store(for: NumberQuery(number)) }
      let reports = warnings {
        for number in 1...2 { _ = self.client.store(for: NumberQuery(number).modifier(PassThrough())) }
      }
      #expect(reports.count == 2)
      #expect(reports.allSatisfy { $0.message.contains("was made with no modifier.") })
    }

    @Test
    func `A store that was put into the client is compared by the modifiers that it was made with`() {
      self.client.withStores(of: IntState.self) { stores, create in
        stores.update(create(for: NumberQuery(1).modifier(PassThrough())))
      }
      _ = self.client.store(for: NumberQuery(1).modifier(PassThrough()))
      expectWarning(.modifiersIgnored) { _ = self.client.store(for: NumberQuery(1).stale(after: .seconds(1))) }
    }

    @Test
    func `Modifiers that a creator adds to all operations are not compared`() {
      let client = OperationClient(storeCreator: IdleStoreCreator())
      let store = client.store(for: NumberQuery(1))
      #expect(client.store(for: NumberQuery(1)) === store)
      expectWarning(.modifiersIgnored) { _ = client.store(for: NumberQuery(1).modifier(PassThrough())) }
    }
  #endif

  @Test
  func `An operation without modifiers finds the store without a report`() {
    let store = self.client.store(for: NumberQuery(1).modifier(PassThrough()))
    #expect(self.client.store(for: NumberQuery(1)) === store)
  }
}

private struct IdleStoreCreator: OperationClient.StoreCreator {
  func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    in context: OperationContext,
    with initialState: Operation.State
  ) -> OperationStore<Operation.State> {
    .detached(operation: operation.modifier(PassThrough()), initialState: initialState, initialContext: context)
  }
}
