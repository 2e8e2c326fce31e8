import OperationHTTP

/// The events in the body of an answer, as they arrive.
struct ServerSentEvents: AsyncSequence, Sendable {
  typealias Element = ServerSentEvent
  typealias Failure = any Error

  private let body: OperationHTTPBody

  init(_ body: OperationHTTPBody) {
    self.body = body
  }

  func makeAsyncIterator() -> Iterator { Iterator(parts: self.body.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    var parts: OperationHTTPBody.AsyncIterator
    private var parser = EventParser()

    init(parts: OperationHTTPBody.AsyncIterator) {
      self.parts = parts
    }

    mutating func next() async throws -> ServerSentEvent? {
      while true {
        if let event = self.parser.next() { return event }
        // An event without the blank line after it is not complete, and is dropped with the end of the answer.
        guard let part = try await self.parts.next() else { return nil }
        try self.parser.append(part)
      }
    }
  }
}
