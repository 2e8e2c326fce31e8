import FlyingFox
import Foundation
import PostService
import Synchronization

/// A chat room over HTTP: messages are posted, and read as server-sent events. The story cuts its connections.
final class ChatServer: Sendable {
  /// The connection of a server with a fault.
  struct Broken: Error {}

  private struct Content: Sendable {
    var messages: [Message] = []
    var connections: [Int: AsyncThrowingStream<Data, any Error>.Continuation] = [:]
    /// The header field `Last-Event-ID` of each connection.
    var opened: [String?] = []
    var refusals = 0
  }

  private let content = Mutex(Content())
  private let say: @Sendable (String) -> Void
  private let closings: AsyncStream<Int>
  private let closing: AsyncStream<Int>.Continuation
  private let running = Mutex<(server: LoopbackServer, pulse: Task<Void, Never>)?>(nil)

  init(say: @escaping @Sendable (String) -> Void) {
    (self.closings, self.closing) = AsyncStream.makeStream()
    self.say = say
  }

  func start() async throws -> URL {
    let server = LoopbackServer { try await self.answer($0) }
    let address = try await server.start()
    // By a comment now and then both sides notice a connection that is lost.
    let pulse = Task {
      while (try? await Task.sleep(for: .milliseconds(50))) != nil { self.send(": here\n\n") }
    }
    self.running.withLock { $0 = (server, pulse) }
    return address
  }

  func stop() async {
    let running = self.running.withLock { $0.take() }
    running?.pulse.cancel()
    self.end()
    await running?.server.stop()
  }
}

// MARK: - What the story does and sees

extension ChatServer {
  /// The field `Last-Event-ID` of each connection that was opened.
  var opened: [String?] { self.content.withLock { $0.opened } }

  /// Adds a message, as another user does.
  @discardableResult
  func post(_ text: String) -> Message {
    let message = self.content.withLock { content in
      let message = Message(id: content.messages.count + 1, text: text)
      content.messages.append(message)
      return message
    }
    self.send(message.event)
    return message
  }

  /// Refuses the next connections with the status 503.
  func refuse(_ count: Int) {
    self.content.withLock { $0.refusals = count }
  }

  /// Ends all connections: without an error as after a time, with one as by a cable that is cut.
  func end(throwing error: (any Error)? = nil) {
    let connections = self.content.withLock { $0.connections.values }
    for connection in connections { connection.finish(throwing: error) }
  }

  /// Waits until a connection is closed, the first being 1.
  func closed(_ number: Int) async {
    for await closed in self.closings where closed == number { return }
  }
}

// MARK: - Answers

extension ChatServer {
  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch (request.method, request.path) {
    case (.GET, "/events"): return self.open(after: request.headers[HTTPHeader("Last-Event-ID")])
    case (.POST, "/messages"):
      let draft = try JSONDecoder().decode(Draft.self, from: try await request.bodyData)
      return HTTPResponse(statusCode: .created, body: try JSONEncoder().encode(self.post(draft.text)))
    default: return HTTPResponse(statusCode: .notFound)
    }
  }

  private func open(after id: String?) -> HTTPResponse {
    let (parts, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    let number = self.content.withLock { content -> Int? in
      content.opened.append(id)
      if content.refusals > 0 {
        content.refusals -= 1
        return nil
      }
      // In the same step as the messages before, so that none comes twice and none is lost.
      let last = id.flatMap(Int.init) ?? 0
      for message in content.messages where message.id > last { continuation.yield(Data(message.event.utf8)) }
      content.connections[content.opened.count] = continuation
      return content.opened.count
    }
    guard let number else {
      self.say("refuses a connection")
      return HTTPResponse(statusCode: .serviceUnavailable)
    }
    self.say("opens connection \(number)\(id.map { ", after message \($0)" } ?? "")")
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      _ = self.content.withLock { $0.connections.removeValue(forKey: number) }
      self.say("closes connection \(number)")
      self.closing.yield(number)
    }
    let headers: HTTPHeaders = [.contentType: "text/event-stream"]
    return HTTPResponse(statusCode: .ok, headers: headers, body: HTTPBodySequence(from: EventBody(parts: parts)))
  }

  private func send(_ text: String) {
    let connections = self.content.withLock { $0.connections.values }
    for connection in connections { connection.yield(Data(text.utf8)) }
  }
}

extension Message {
  /// The message as a server-sent event.
  fileprivate var event: String {
    let data = (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return "id: \(self.id)\ndata: \(data)\n\n"
  }
}
