import Foundation
import Operation
import OperationHTTP

/// A room of the server.
struct Room: Sendable {
  let address: URL
  /// Whether a stream that is opened again goes on after the last message.
  let goesOn: Bool

  /// The messages: one connection, which is opened again when it is lost, while it has readers.
  ///
  /// The server sends comments in between, so that a session which waits 60 seconds for bytes does not give up.
  var messages: some QueryRequest<[Message], any Error> & Sendable {
    let goesOn = self.goesOn
    return QueryOperation(
      "room",
      self.address,
      streaming: .append(limit: 500),
      id: \Message.id,
      // A server that ends the answer wants the client to come again.
      reconnectsAtEnd: true
    ) { address, lastID, context -> AsyncThrowingMapSequence<ServerSentEvents, Message> in
      var request = OperationHTTPRequest(
        address.appending(path: "events"),
        fields: ["Accept": "text/event-stream", "Cache-Control": "no-store"]
      )
      if goesOn { request.fields["Last-Event-ID"] = lastID.map { "\($0)" } }
      // A status that is no success is an error, by which the retry knows whether and when.
      let response = try await context.send(request)
      return ServerSentEvents(response.body).map { event in
        try JSONDecoder().decode(Message.self, from: Data(event.data.utf8))
      }
    }
    .retry(limit: 5)
    .backoff(.constant(.milliseconds(50)))
  }

  /// Sends a message. It comes back by the stream, as it does for all others.
  var sending: some MutationRequest<String, Message, any Error> & Sendable {
    MutationOperation("room", self.address, "send") { (text: String, context) in
      let request = try OperationHTTPRequest(self.address.appending(path: "messages"), json: Draft(text: text))
      return try await context.send(request).decoded(as: Message.self)
    }
  }
}
