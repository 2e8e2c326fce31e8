import FlyingFox
import Foundation
import PostService
import Synchronization

/// The articles of the server, the newest first. It puts a capital letter at the beginning of a new title.
final class Newsroom: Sendable {
  private struct Content: Sendable {
    var articles = (1...10).reversed().map { Article(id: $0, title: "Article \($0)") }
    /// What was asked for, without a query.
    var requests: [String] = []
    var gates: [String: Gate] = [:]
    var refused: Set<String> = []
  }

  private let content = Mutex(Content())
  private let say: @Sendable (String) -> Void
  private let asked: AsyncStream<String>
  private let asking: AsyncStream<String>.Continuation

  init(say: @escaping @Sendable (String) -> Void) {
    (self.asked, self.asking) = AsyncStream.makeStream()
    self.say = say
  }

  /// The requests so far: the method, and the path with its query.
  var requests: [String] { self.content.withLock { $0.requests } }

  /// Waits until a request has come whose answer is held back.
  func isAsked(_ request: String) async {
    for await asked in self.asked where asked == request { return }
  }

  /// Holds the answer to a request back. The answer is made when the request comes, and so is old when it is sent.
  func hold(_ request: String) -> Gate {
    let gate = Gate()
    self.content.withLock { $0.gates[request] = gate }
    return gate
  }

  /// Answers the next request of a kind with the status 403.
  func refuse(_ request: String) {
    self.content.withLock { _ = $0.refused.insert(request) }
  }

  /// Adds an article at the beginning, as another author does.
  func publish(_ title: String) {
    self.content.withLock { $0.articles.insert(Article(id: $0.articles.count + 1, title: title), at: 0) }
    self.say("has a new article, \"\(title)\"")
  }
}

extension Newsroom {
  func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let skip = request.number("skip")
    let name = "\(request.method.rawValue) \(request.path)" + (skip.map { " after \($0)" } ?? "")
    let body = try await request.bodyData
    let (answer, gate) = try self.content.withLock { content in
      content.requests.append(name)
      return (try self.answer(request, skip ?? 0, body, name, &content), content.gates.removeValue(forKey: name))
    }
    self.say("is asked for: \(name)")
    if let gate {
      self.asking.yield(name)
      await gate.pass()
    }
    return answer
  }

  private func answer(
    _ request: HTTPRequest,
    _ skip: Int,
    _ body: Data,
    _ name: String,
    _ content: inout Content
  ) throws -> HTTPResponse {
    if content.refused.remove(name) != nil { return HTTPResponse(statusCode: .forbidden) }
    let parts = request.path.split(separator: "/")
    if parts.count == 1 {
      let limit = request.number("limit") ?? 10
      return try Self.encoding(Array(content.articles.dropFirst(skip).prefix(limit)))
    }
    guard let id = parts.last.flatMap({ Int($0) }), let index = content.articles.firstIndex(where: { $0.id == id })
    else { return HTTPResponse(statusCode: .notFound) }
    if request.method == .PUT {
      let title = try JSONDecoder().decode(Title.self, from: body).title
      content.articles[index].title = title.prefix(1).uppercased() + title.dropFirst()
    }
    return try Self.encoding(content.articles[index])
  }

  private static func encoding(_ value: some Encodable) throws -> HTTPResponse {
    HTTPResponse(statusCode: .ok, body: try JSONEncoder().encode(value))
  }
}

extension HTTPRequest {
  fileprivate func number(_ name: String) -> Int? {
    guard let text = self.query.first(where: { $0.name == name })?.value else { return nil }
    return Int(text)
  }
}
