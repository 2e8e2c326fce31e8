import Operation

struct Message: Identifiable, Sendable {
  let id: Int
  var text = ""
}

extension Server {
  func messages(in room: Int, after id: Int?) -> AsyncThrowingStream<Message, any Error> { sample() }
  func prices() -> AsyncStream<Double> { AsyncStream { _ in } }
}

var chat: QueryOperation<[Message], any Error> { sample() }
