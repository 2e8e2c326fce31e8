#if SwiftOperationDevtools
  import Foundation

  @testable import OperationDevtools

  /// A message of a feed, as a page reads it.
  struct Message: Decodable {
    struct Row: Decodable {
      let id: Int
      let path: [String]
      let operation: String
      let kind: String
      let status: String
      let error: String?
      let stale: Bool?
      let paused: Bool?
      let subscribers: Int
      let values: Int
      let errors: Int
    }

    struct Event: Decodable {
      let number: Int
      let store: Int
      let path: [String]
      let kind: String
      let text: String
      let cause: String?
      let outcome: String?
      let reason: String?
      let node: String?
      let source: String?
    }

    struct Simulated: Decodable {
      let offline: Bool
      let latency: Double
      let failures: Double
    }

    struct Extras: Decodable {
      struct Limit: Decodable {
        let name: String
        let text: String
        let gauges: [String: Double?]
      }

      let limits: [Limit]
      let simulation: Simulated?
    }

    struct Graph: Decodable {
      struct Node: Decodable {
        let id: Int
        let name: String
        let kind: String
        let state: String
        let path: [String]?
      }

      struct Edge: Decodable {
        let from: Int
        let to: Int
        let reason: String
      }

      let name: String
      let summary: String
      let leftOut: Int
      let nodes: [Node]
      let edges: [Edge]
    }

    let type: String
    let live: Bool?
    let actions: Bool?
    let ready: Bool?
    let stores: [Row]?
    let removed: [Int]?
    let events: [Event]?
    let dropped: Int?
    let extras: Extras?
    let lines: [String]?
    let graphs: [Graph]?

    init(_ json: some StringProtocol) throws { self = try JSONDecoder().decode(Message.self, from: Data(json.utf8)) }
  }

  extension FeedConnection {
    /// Waits for the messages that are next.
    func messages() async throws -> [Message] {
      try (await self.next() ?? "").split(separator: "\n\n").filter { $0.hasPrefix("data: ") }.map {
        try Message($0.dropFirst("data: ".count))
      }
    }
  }
#endif
