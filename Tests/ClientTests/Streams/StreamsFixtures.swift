import OperationCore
import OperationStreams
import OperationTesting
import Synchronization
import TestFixtures
import Testing

struct Message: Sendable, Equatable, Identifiable, Codable {
  let id: Int
  var text: String
}

struct ConnectionLost: Error, Equatable {}

/// A server of messages, whose connections a test loses.
final class Server: Sendable {
  private struct Content: Sendable {
    var messages: [Message] = []
    var connections: [Int: AsyncThrowingStream<Message, any Error>.Continuation] = [:]
    var opened: [Int?] = []
    /// Fails the next attempts to connect.
    var refusals = 0
  }

  private let content = Mutex(Content())
  /// The numbers of the connections that were closed, by whomever.
  let closings: AsyncStream<Int>
  private let closing: AsyncStream<Int>.Continuation

  init(_ texts: String...) {
    (self.closings, self.closing) = AsyncStream.makeStream()
    for text in texts { self.send(text) }
  }

  /// The identifiers with which connections were opened.
  var opened: [Int?] { self.content.withLock { $0.opened } }
  var openCount: Int { self.content.withLock { $0.connections.count } }

  /// Opens a connection: the messages after one, and then those that come.
  func messages(after id: Int?) throws -> AsyncThrowingStream<Message, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Message.self)
    let number = try self.content.withLock { content in
      content.opened.append(id)
      if content.refusals > 0 {
        content.refusals -= 1
        throw ConnectionLost()
      }
      for message in content.messages where message.id > id ?? 0 { continuation.yield(message) }
      content.connections[content.opened.count] = continuation
      return content.opened.count
    }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      _ = self.content.withLock { $0.connections.removeValue(forKey: number) }
      self.closing.yield(number)
    }
    return stream
  }

  func send(_ text: String) {
    let (message, connections) = self.content.withLock { content in
      content.messages.append(Message(id: content.messages.count + 1, text: text))
      return (content.messages.last, content.connections.values)
    }
    guard let message else { return }
    for connection in connections { connection.yield(message) }
  }

  func refuse(_ count: Int) {
    self.content.withLock { $0.refusals = count }
  }

  /// Ends all connections, with an error or without.
  func end(throwing error: (any Error)? = nil) {
    let connections = self.content.withLock { $0.connections.values }
    for connection in connections { connection.finish(throwing: error) }
  }

  /// The messages as a query, which goes on after the last one.
  func chat(
    _ accumulation: StreamAccumulation<Message, [Message]> = .append,
    yielding kind: CommittedValueKind = .partial,
    reconnectsAtEnd: Bool = false
  ) -> QueryOperation<[Message], any Error> {
    QueryOperation(
      "chat",
      streaming: accumulation,
      yielding: kind,
      id: \Message.id,
      reconnectsAtEnd: reconnectsAtEnd
    ) { lastID, _ in
      try self.messages(after: lastID)
    }
  }
}

/// A subscriber, and what it was told.
final class Subscriber<Value: Sendable>: Sendable {
  typealias State = QueryState<Value, any Error>

  let recorder = EventRecorder<State>()
  private let subscription: OperationSubscription

  init(_ store: OperationStore<State>) {
    self.subscription = store.subscribe(with: self.recorder.handler, isolation: nil)
  }

  func leave() { self.subscription.cancel() }

  /// Waits until a state has shown a value.
  @discardableResult
  func shows(_ value: Value) async throws -> State where Value: Equatable {
    try await self.recorder.firstState { $0.currentValue == value }
  }

  /// Waits until a state has shown these texts.
  @discardableResult
  func shows(_ texts: String...) async throws -> State where Value == [Message] {
    try await self.recorder.firstState { $0.currentValue?.map(\.text) == texts }
  }
}

extension OperationStore where State == QueryState<[Message], any Error> {
  var texts: [String]? { self.currentValue?.map(\.text) }
}

extension OperationClient {
  /// A client whose operations run automatically.
  static func automatic() -> OperationClient {
    var context = OperationContext()
    context.automaticRunningSpecification = .always(true)
    return OperationClient(defaultContext: context)
  }
}
