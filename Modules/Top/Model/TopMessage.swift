internal import OperationFoundation

/// A message of a program with devtools, as far as a terminal shows it.
package struct TopMessage: Decodable, Sendable {
  /// A store.
  package struct Row: Decodable, Sendable {
    package let id: Int
    package let path: [String]
    package let operation: String
    package let kind: String
    package let status: String
    package var paused: Bool?
    package var attempt: Int?
    package var nextAttempt: Double?
    package var error: String?
    package var canBeStale: Bool?
    package var stale: Bool?
    package var freshUntil: Double?
    package let subscribers: Int
    package let values: Int
    package let errors: Int
    package var valueDate: Double?
  }

  package struct Event: Decodable, Sendable {
    package let store: Int
    package let kind: String
    package let date: Double
  }

  package let type: String
  package var date: Double?
  package var program: String?
  package var process: Int?
  package var live: Bool?
  package var actions: Bool?
  package var ready: Bool?
  package var stores: [Row]?
  package var removed: [Int]?
  package var events: [Event]?
  package var dropped: Int?

  /// Reads a message; nil for one of another kind.
  package init?(json: some Collection<UInt8>) {
    guard let message = try? JSONDecoder().decode(TopMessage.self, from: Data(json)) else { return nil }
    self = message
  }
}

/// An explanation of a store.
package struct TopExplanation: Decodable, Sendable {
  package let lines: [String]

  package init?(json: String) {
    guard let explanation = try? JSONDecoder().decode(TopExplanation.self, from: Data(json.utf8)) else { return nil }
    self = explanation
  }
}

/// Takes server-sent events apart.
package struct EventStream: Sendable {
  private var rest: [UInt8] = []

  package init() {}

  /// Adds bytes that have arrived.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: The messages that are complete now.
  package mutating func add(_ bytes: [UInt8]) -> [TopMessage] {
    self.rest += bytes
    var messages: [TopMessage] = []
    let prefix = Array("data: ".utf8)
    var start = self.rest.startIndex
    // A message is one line, which an empty one follows.
    while let end = self.rest[start...].firstRange(of: [10, 10]) {
      let line = self.rest[start..<end.lowerBound]
      if line.starts(with: prefix), let message = TopMessage(json: line.dropFirst(prefix.count)) {
        messages.append(message)
      }
      start = end.upperBound
    }
    self.rest.removeSubrange(..<start)
    return messages
  }
}
