#if SwiftOperationDevtools
  import Foundation
  import Operation

  struct Product: Codable, Hashable, Sendable {
    var id: Int
    var name: String
    var price: Double
    var tags: [String]
    var sizes: [String: Int]

    struct Query: QueryRequest, Hashable {
      let id: Int

      var path: OperationPath { ["shop", "products", self.id] }

      func fetch(
        isolation: isolated (any Actor)?,
        in context: OperationContext,
        with continuation: OperationContinuation<Product, any Error>
      ) async throws -> Product {
        try await context.operationDeadlines.sleep(for: .milliseconds(150 + 70 * self.id))
        return Product(
          id: self.id,
          name: ["Lamp", "Chair", "Desk", "Shelf", "Rug", "Clock"][(self.id - 1) % 6],
          price: 19.9 * Double(self.id),
          tags: ["home", self.id.isMultiple(of: 2) ? "wood" : "steel"],
          sizes: ["S": 3 * self.id, "M": self.id, "L": 0]
        )
      }
    }
  }

  enum Stock {
    struct Query: QueryRequest, Hashable {
      var path: OperationPath { ["shop", "stock"] }

      func fetch(
        isolation: isolated (any Actor)?,
        in context: OperationContext,
        with continuation: OperationContinuation<Int, any Error>
      ) async throws -> Int {
        try await context.operationDeadlines.sleep(for: .milliseconds(120))
        return Int.random(in: 40...90)
      }
    }
  }

  struct ServiceIsDown: Error {}

  enum ExchangeRate {
    struct Query: QueryRequest, Hashable {
      let currency: String

      var path: OperationPath { ["rates", self.currency] }

      func fetch(
        isolation: isolated (any Actor)?,
        in context: OperationContext,
        with continuation: OperationContinuation<Double, any Error>
      ) async throws -> Double {
        try await context.operationDeadlines.sleep(for: .milliseconds(90))
        // Each second attempt fails, so that there is something to see.
        if Bool.random() { throw ServiceIsDown() }
        return 1.08
      }
    }
  }

  /// Who is signed in. The token is never shown.
  struct Session: Codable, Hashable, Sendable {
    struct Token: Codable, Hashable, Sendable, OperationSecret {
      var text = "token-5f1c"
    }

    var user = "Ada"
    var roles = ["buyer", "reviewer"]
    var token = Token()

    struct Query: QueryRequest, Hashable {
      var path: OperationPath { ["session"] }

      func fetch(
        isolation: isolated (any Actor)?,
        in context: OperationContext,
        with continuation: OperationContinuation<Session, any Error>
      ) async throws -> Session {
        try await context.operationDeadlines.sleep(for: .milliseconds(300))
        return Session()
      }
    }
  }

  struct PlaceOrder: MutationRequest, Hashable {
    struct Arguments: Hashable, Sendable {
      let product: Int
      let card: CardNumber
    }

    var path: OperationPath { ["shop", "orders"] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Arguments,
      in context: OperationContext,
      with continuation: OperationContinuation<Int, any Error>
    ) async throws -> Int {
      try await context.operationDeadlines.sleep(for: .milliseconds(400))
      return arguments.product
    }
  }

  /// Writes a part of an export, which takes two seconds.
  struct Export: OperationRequest, Sendable {
    let name: String
    let deadlines: any DeadlineSource

    func run(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<String, any Error>
    ) async throws -> String {
      try await self.deadlines.sleep(for: .seconds(2))
      return self.name
    }
  }
#endif
