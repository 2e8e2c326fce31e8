package import FlyingFox
import Foundation

/// Answers a request: counts it, waits for its latency, and then fails it as scripted or serves it.
package struct PostHandler: HTTPHandler {
  package let archive: PostArchive
  package let comments: CommentArchive
  package let people: PeopleArchive
  package let script: ServerScript
  package let log: RequestLog
  package let onAnswer: @Sendable (ServerAnswer) -> Void

  package func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    let arrival = ContinuousClock.now
    let route = Route(method: request.method.rawValue, path: request.path)
    let number = self.log.record(route)
    let (latency, gate, scriptedFault) = self.script.next(for: route)
    let body = try await request.bodyData
    try await Task.sleep(for: latency)
    await gate?.pass()
    let fault = scriptedFault ?? self.script.presentFault

    let response =
      if let fault {
        try HTTPResponse.refusal(fault.status, fault.message)
      } else {
        try self.answer(to: route, query: request.query, body: body)
      }
    self.onAnswer(
      ServerAnswer(
        route: route,
        query: request.query.text,
        number: number,
        status: response.statusCode.code,
        isInjected: fault != nil,
        latency: arrival.duration(to: .now)
      )
    )
    return response
  }
}

extension PostHandler {
  private func answer(to route: Route, query: [HTTPRequest.QueryItem], body: Data) throws -> HTTPResponse {
    switch route {
    case .post(let id):
      guard let post = self.archive[id] else {
        return try .refusal(404, "there is no post \(id)")
      }
      return try .json(post)
    case .feed:
      guard let limit = query.count(named: "limit", default: 30), let skip = query.count(named: "skip", default: 0)
      else {
        return try .refusal(400, "limit and skip are whole numbers, 0 or more")
      }
      return try .json(self.archive.page(limit: limit, skip: skip))
    case .author(let id):
      guard let author = Author.all.first(where: { $0.id == id }) else {
        return try .refusal(404, "there is no author \(id)")
      }
      return try .json(author)
    case .authors:
      let ids = (query["ids"] ?? "").split(separator: ",").compactMap { Int($0) }
      return try .json(AuthorList(users: Author.all.filter { ids.contains($0.id) }))
    case .add:
      guard let draft = try? JSONDecoder().decode(PostDraft.self, from: body) else {
        return try .refusal(400, "a post has a userId, a title and a body")
      }
      guard draft.title.contains(where: { !$0.isWhitespace }) else {
        return try .refusal(422, "a post needs a title")
      }
      return try .json(self.archive.add(draft), status: 201)
    case .comments, .replies, .reply:
      return try self.answerAboutComments(to: route, body: body)
    case .person, .friends, .friendRequests, .accept:
      return try self.answerAboutPeople(to: route, query: query)
    case .other:
      return try .refusal(404, "there is nothing here")
    }
  }
}
