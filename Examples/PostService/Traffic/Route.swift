/// The method and path of a request, without its query and body.
package enum Route: Hashable, Sendable {
  case post(id: Int)
  case feed
  case add
  case author(id: Int)
  /// Several authors, whose ids are in the query.
  case authors
  case comments(post: Int)
  case replies(comment: Int)
  case reply(comment: Int)
  case person(id: Int)
  case friends(of: Int)
  case friendRequests
  case accept(id: Int)
  case other(String)

  package init(method: String, path: String) {
    let parts = path.split(separator: "/").map { String($0) }
    let id = parts.count > 1 ? Int(parts[1]) : nil
    switch (method, parts.count, parts.first, parts.count > 2 ? parts[2] : "", id) {
    case ("GET", 1, "posts", _, _):
      self = .feed
    case ("POST", 2, "posts", _, _) where parts[1] == "add":
      self = .add
    case ("GET", 2, "posts", _, let id?):
      self = .post(id: id)
    case ("GET", 1, "users", _, _):
      self = .authors
    case ("GET", 2, "users", _, let id?):
      self = .author(id: id)
    case ("GET", 3, "posts", "comments", let id?):
      self = .comments(post: id)
    case ("GET", 3, "comments", "replies", let id?):
      self = .replies(comment: id)
    case ("POST", 3, "comments", "replies", let id?):
      self = .reply(comment: id)
    case ("GET", 2, "people", _, let id?):
      self = .person(id: id)
    case ("GET", 3, "people", "friends", let id?):
      self = .friends(of: id)
    case ("GET", 1, "requests", _, _):
      self = .friendRequests
    case ("POST", 3, "people", "accept", let id?):
      self = .accept(id: id)
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
    case .comments(let post): "GET /posts/\(post)/comments"
    case .replies(let comment): "GET /comments/\(comment)/replies"
    case .reply(let comment): "POST /comments/\(comment)/replies"
    case .person(let id): "GET /people/\(id)"
    case .friends(let id): "GET /people/\(id)/friends"
    case .friendRequests: "GET /requests"
    case .accept(let id): "POST /people/\(id)/accept"
    case .other(let request): request
    }
  }
}
