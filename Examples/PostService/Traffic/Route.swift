/// What a request asks for, with the parts that differ from call to call (a query, a body) left out.
package enum Route: Hashable, Sendable {
  case post(id: Int)
  case feed
  case add
  case author(id: Int)
  /// Several authors, whose ids are in the query.
  case authors
  case other(String)

  package init(method: String, path: String) {
    let parts = path.split(separator: "/")
    switch (method, parts.count, parts.first, parts.last) {
    case ("GET", 1, "posts", _):
      self = .feed
    case ("POST", 2, "posts", "add"):
      self = .add
    case ("GET", 2, "posts", let last?):
      self = Int(last).map { .post(id: $0) } ?? .other("GET \(path)")
    case ("GET", 1, "users", _):
      self = .authors
    case ("GET", 2, "users", let last?):
      self = Int(last).map { .author(id: $0) } ?? .other("GET \(path)")
    default:
      self = .other("\(method) \(path)")
    }
  }
}

extension Route: CustomStringConvertible {
  package var description: String {
    switch self {
    case .post(let id): "GET /posts/\(id)"
    case .feed: "GET /posts"
    case .add: "POST /posts/add"
    case .author(let id): "GET /users/\(id)"
    case .authors: "GET /users"
    case .other(let request): request
    }
  }
}
