/// A program with devtools, attached by its address.
package final class TopSession {
  package let address: DevtoolsAddress
  package private(set) var model = TopModel()
  private let socket: LoopbackSocket
  private var reply = HTTPReply()
  private var stream = EventStream()

  /// Begins to receive what happens in the program.
  package init(_ address: DevtoolsAddress) throws(LoopbackError) {
    self.address = address
    self.socket = try LoopbackSocket(port: address.port)
    try self.socket.send(LoopbackHTTP.text("GET", "/api/events", fields: LoopbackHTTP.fields(for: address)))
  }

  /// To wait for messages.
  package var descriptor: CInt { self.socket.descriptor }

  /// Reads what has arrived.
  package func read() throws(LoopbackError) {
    let bytes = try self.socket.receive()
    self.reply.add(bytes)
    if let status = self.reply.status, status != 200 {
      throw LoopbackError(
        status == 401 ? "the token is wrong: take the address that the program has printed" : "refused (\(status))"
      )
    }
    for message in self.stream.add(self.reply.takeBody()) { self.model.apply(message) }
    if bytes.isEmpty { throw LoopbackError("the program has ended") }
  }

  package func advance(to date: Double) { self.model.advance(to: date) }

  /// Asks for the explanation of a store.
  package func explanation(of id: Int) throws(LoopbackError) -> [String] {
    let answer = try self.ask("GET", "/api/explanation?store=\(id)")
    guard answer.status == 200, let explanation = TopExplanation(json: answer.body) else {
      throw LoopbackError("the store is no longer there")
    }
    return explanation.lines
  }

  /// Asks the program to do something with a store.
  package func perform(_ action: String, store id: Int) throws(LoopbackError) {
    let answer = try self.ask("POST", "/api/action", body: #"{"action":"\#(action)","store":\#(id)}"#)
    guard answer.status == 200 else { throw LoopbackError(String(answer.body.prefix { $0 != "\n" })) }
  }

  private func ask(_ method: String, _ target: String, body: String = "") throws(LoopbackError) -> LoopbackHTTP.Answer {
    let fields =
      LoopbackHTTP.fields(for: self.address) + [("Connection", "close"), ("Content-Type", "application/json")]
    return try LoopbackHTTP.send(LoopbackHTTP.text(method, target, fields: fields, body: body), to: self.address.port)
  }
}
