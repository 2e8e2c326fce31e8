import FlyingFox
import Foundation

extension PostHandler {
  func answerAboutComments(to route: Route, body: Data) throws -> HTTPResponse {
    switch route {
    case .comments(let post):
      return try .json(CommentList(comments: self.comments.comments(on: post)))
    case .replies(let id):
      guard self.comments.contains(id) else { return try .refusal(404, "there is no comment \(id)") }
      return try .json(CommentList(comments: self.comments.replies(to: id)))
    case .reply(let id):
      guard let draft = try? JSONDecoder().decode(ReplyDraft.self, from: body) else {
        return try .refusal(400, "a reply has an author and a text")
      }
      guard let reply = self.comments.add(draft, to: id) else { return try .refusal(404, "there is no comment \(id)") }
      return try .json(reply, status: 201)
    default:
      return try .refusal(404, "there is nothing here")
    }
  }
}
