/// A message of a room. The identifiers of a room increase.
struct Message: Codable, Hashable, Identifiable, Sendable {
  var id: Int
  var text: String
}

/// A message that is not sent yet.
struct Draft: Codable, Sendable {
  var text: String
}
