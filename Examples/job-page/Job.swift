/// A job of the server.
struct Job: Codable, Hashable, Sendable {
  var id: Int
  /// How many steps are done.
  var done = 0
  var steps: Int
  /// The milliseconds after which it is worth asking again.
  var askAgainAfter: Int

  var isDone: Bool { self.done == self.steps }
}

/// What a user orders.
struct Order: Codable, Hashable, Sendable {
  var steps: Int
  var askAgainAfter = 30
}
