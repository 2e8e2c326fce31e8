import FlyingFox

extension PostHandler {
  func answerAboutPeople(to route: Route, query: [HTTPRequest.QueryItem]) throws -> HTTPResponse {
    switch route {
    case .person(let id):
      guard let person = self.people.person(id) else { return try .refusal(404, "there is no person \(id)") }
      return try .json(person)
    case .friends(let id):
      guard let page = query.count(named: "page", default: 0) else {
        return try .refusal(400, "page is a whole number, 0 or more")
      }
      return try .json(self.people.friends(of: id, page: page))
    case .friendRequests:
      return try .json(self.people.friendRequests)
    case .accept(let id):
      guard let person = self.people.accept(id) else { return try .refusal(409, "\(id) has not asked") }
      return try .json(person)
    default:
      return try .refusal(404, "there is nothing here")
    }
  }
}
