#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationMutation
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  /// The calls of a mutation, as the page shows them.
  @Suite(.bounded) struct CallTests {
    private struct Answer: Decodable {
      struct Node: Decodable {
        let label: String?
        let type: String
        let text: String?
        let secret: Bool?
        let children: [Node]?
      }

      struct Call: Decodable {
        let run: String
        let date: Double
        let status: String
        let error: String?
        let arguments: Node
      }

      let calls: [Call]?
    }

    private struct Card: Hashable, Sendable, OperationSecret {
      let digits: String
    }

    private struct Order: Hashable, Sendable {
      let product: Int
      let card: Card
    }

    private let client = OperationClient()
    private let feed: LiveFeed

    init() {
      self.feed = LiveFeed(self.client, allowsActions: false, simulation: nil)
    }

    private func value(ofStoreAt path: [String]) async throws -> (answer: Answer, text: String) {
      let rows = try await self.rows()
      let id = try #require(rows.first { $0.path == path }?.id)
      let request = FeedRequest(method: "GET", path: "/api/value", query: ["store": "\(id)"], body: "")
      guard case .json(let text) = await self.feed.answer(request) else { throw Refused() }
      return (try JSONDecoder().decode(Answer.self, from: Data(text.utf8)), text)
    }

    private func rows() async throws -> [Message.Row] {
      let request = FeedRequest(method: "GET", path: "/api/stores", query: [:], body: "")
      guard case .json(let text) = await self.feed.answer(request) else { throw Refused() }
      return try Message(text).stores ?? []
    }

    @Test func `A mutation has its calls with their arguments, newest first, without what is secret`() async throws {
      let gate = Gate()
      let order = MutationOperation<Order, Int, any Error>("orders", operationName: "PlaceOrder") { order, _ in
        if order.product == 2 { throw Refused(code: 2) }
        if order.product == 3 { try await gate.wait() }
        return order.product
      }
      let store = self.client.store(for: order)
      try await store.mutate(with: Order(product: 1, card: Card(digits: "4711")))
      await #expect(throws: Refused.self) {
        try await store.mutate(with: Order(product: 2, card: Card(digits: "4711")))
      }
      let last = Task.immediate { try await store.mutate(with: Order(product: 3, card: Card(digits: "4711"))) }
      let (answer, text) = try await self.value(ofStoreAt: ["\"orders\""])
      let calls = try #require(answer.calls)
      expect(calls.map(\.status), equals: ["running", "failure", "success"])
      expect(calls.map(\.error), equals: [nil, "Refused(code: 2)", nil])
      expect(calls.map { $0.arguments.children?.first?.text }, equals: ["3", "2", "1"])
      #expect(calls.allSatisfy { $0.arguments.children?.last?.secret == true && $0.run.hasPrefix("#") })
      #expect(!text.contains("4711"))
      gate.open()
      _ = try await withTimeLimit("the last call") { try await last.value }
      try await expect(self.value(ofStoreAt: ["\"orders\""]).answer.calls?.first?.status, equals: "success")
    }

    @Test func `A query has no calls`() async throws {
      let script = OperationScript<Int, any Error>(default: .value(1))
      try await self.client.store(for: script.query(path: ["numbers"])).fetch()
      #expect(try await self.value(ofStoreAt: ["\"numbers\""]).answer.calls == nil)
    }
  }
#endif
