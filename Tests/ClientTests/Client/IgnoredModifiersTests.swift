import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A store that is requested with other modifiers than it was made with, which debug builds report.
@Suite(.bounded, .warningsAreIssues)
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
      expect(reports.map(\.code), equals: [.modifiersIgnored])
      let message = reports.first?.message ?? ""
      let request = #"NumberQuery is requested at the path ["numbers", 1] with"#
      let modifiers = ".stale(after: 1 s).modifier(PassThrough)"
      #expect(message.contains("\(request) \(modifiers) (ClientTests/IgnoredModifiersTests.swift:"))
      #expect(message.contains("was made with .stale(after: 1 s) (ClientTests/IgnoredModifiersTests.swift:"))
    }

    @Test
    func `Other values of the same modifiers are reported`() {
      let make = { (age: Duration) in NumberQuery(1).stale(after: age).cacheTime(.seconds(5)).context { _ in } }
      let store = self.client.store(for: make(.seconds(60)))
      let reports = warnings { #expect(self.client.store(for: make(.seconds(5))) === store) }
      let message = reports.first?.message ?? ""
      #expect(message.contains("with .stale(after: 5 s).cacheTime(5 s).context { … } ("))
      #expect(message.contains("was made with .stale(after: 1 min).cacheTime(5 s).context { … } ("))
      _ = self.client.store(for: make(.seconds(5)))
    }

    @Test
    func `Two closures at one path are reported once, with both places`() {
      let first = self.client.store(for: QueryOperation("posts", 1) { 1 })
      let reports = warnings {
        for _ in 0..<2 {
          #expect(self.client.store(for: QueryOperation("posts", 1) { 2 }.cacheTime(.seconds(300))) === first)
        }
      }
      expect(reports.map(\.code), equals: [.modifiersIgnored, .closureIgnored])
      let message = reports.last?.message ?? ""
      #expect(message.contains("The closure of posts at ClientTests/IgnoredModifiersTests.swift:"))
      #expect(message.contains("was made with the closure at ClientTests/IgnoredModifiersTests.swift:"))
    }

    @Test
    func `One place that makes an operation for several callers is not reported`() {
      func posts(_ id: Int) -> QueryOperation<Int, any Error> { QueryOperation("posts", id) { id } }
      for _ in 0..<2 { for id in 0..<3 { _ = self.client.store(for: posts(id)) } }
    }

    @Test
    func `Each path is reported for itself`() {
      for number in 1...3 { _ = self.client.store(for: NumberQuery(number)) }
      let reports = warnings {
        for number in 1...2 { _ = self.client.store(for: NumberQuery(number).modifier(PassThrough())) }
      }
      expect(reports.count, equals: 2)
      #expect(reports.allSatisfy { $0.message.contains("was made with no modifier (") })
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
