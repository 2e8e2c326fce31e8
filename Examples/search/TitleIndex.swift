import FlyingFox
import Foundation
import PostService
import Synchronization

/// The titles of the server.
final class TitleIndex: Sendable {
  private struct Content: Sendable {
    /// The texts that were asked for.
    var questions: [String] = []
    var gates: [String: Gate] = [:]
    var refused: Set<String> = []
  }

  private static let titles = [
    "Swift by example", "Swift and servers", "Swallows in summer", "Testing in Swift", "A summer in Sweden",
  ]

  private let content = Mutex(Content())
  private let say: @Sendable (String) -> Void
  private let asked: AsyncStream<String>
  private let asking: AsyncStream<String>.Continuation

  init(say: @escaping @Sendable (String) -> Void) {
    (self.asked, self.asking) = AsyncStream.makeStream()
    self.say = say
  }

  /// The texts that were asked for.
  var questions: [String] { self.content.withLock { $0.questions } }

  /// Waits until a text is asked for.
  func isAsked(for text: String) async {
    for await asked in self.asked where asked == text { return }
  }

  /// Holds the answer for a text back until the gate is opened.
  func hold(_ text: String) -> Gate {
    let gate = Gate()
    self.content.withLock { $0.gates[text] = gate }
    return gate
  }

  /// Answers a text with the status 500.
  func refuse(_ text: String) {
    self.content.withLock { _ = $0.refused.insert(text) }
  }

  func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let text = request.query.first { $0.name == "text" }?.value ?? ""
    let (gate, isRefused) = self.content.withLock { content in
      content.questions.append(text)
      return (content.gates[text], content.refused.contains(text))
    }
    self.asking.yield(text)
    self.say("is asked for \"\(text)\"")
    await gate?.pass()
    if isRefused { return HTTPResponse(statusCode: .internalServerError) }
    let titles = Self.titles.filter { $0.localizedCaseInsensitiveContains(text) }
    return HTTPResponse(statusCode: .ok, body: try JSONEncoder().encode(titles))
  }
}
