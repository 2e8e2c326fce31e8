/// Requests to a server of this machine.
package enum LoopbackHTTP {
  package struct Answer: Sendable {
    package let status: Int
    package let fields: [String: String]
    package let body: String
  }

  /// The text of a request.
  package static func text(
    _ method: String,
    _ target: String,
    fields: [(String, String)],
    body: String = ""
  ) -> String {
    var lines = ["\(method) \(target) HTTP/1.1"] + fields.map { "\($0): \($1)" }
    if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    return (lines + ["", body]).joined(separator: "\r\n")
  }

  /// The fields with which a server of devtools accepts a request.
  package static func fields(for address: DevtoolsAddress) -> [(String, String)] {
    [("Host", "127.0.0.1:\(address.port)"), ("Authorization", "Bearer \(address.token)")]
  }

  /// Sends a request and waits for the whole answer, for at most some seconds at each step. It blocks its thread.
  package static func send(
    _ request: String,
    to port: UInt16,
    waitingAtMost seconds: Int = 5
  ) throws(LoopbackError) -> Answer {
    let socket = try LoopbackSocket(port: port, waitingAtMost: seconds)
    try socket.send(request)
    var reply = HTTPReply()
    var body: [UInt8] = []
    while !reply.isComplete {
      reply.add(try socket.receive())
      body += reply.takeBody()
    }
    guard let status = reply.status else { throw LoopbackError("the program has ended the connection") }
    return Answer(status: status, fields: reply.fields, body: String(decoding: body, as: UTF8.self))
  }
}
