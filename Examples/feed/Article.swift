/// What the feed shows, and the page of one.
struct Article: Identifiable, Hashable, Codable, Sendable {
  let id: Int
  var title: String
}

/// The body of a request for another title.
struct Title: Codable, Sendable {
  var title: String
}
