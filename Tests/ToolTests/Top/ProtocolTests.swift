import OperationTop
import TestFixtures
import Testing

@Suite(.bounded) struct ProtocolTests {
  private static let reply =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    + "1B\r\ndata: {\"type\":\"hello\"}\n\n: \r\n0C\r\n\n\ndata: {\"ty\r\n12\r\npe\":\"update\"}\n\nda\r\n0\r\n\r\n"

  @Test(arguments: [1, 2, 3, 5, 7, 1000])
  func `A stream is the same however it arrives`(size: Int) {
    var (reply, stream, types) = (HTTPReply(), EventStream(), [String]())
    var rest = Array(Self.reply.utf8)[...]
    while !rest.isEmpty {
      reply.add(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
      types += stream.add(reply.takeBody()).map(\.type)
    }
    #expect(reply.status == 200 && reply.isComplete)
    expect(types, equals: ["hello", "update"])
  }

  @Test(arguments: [1, 4, 100])
  func `A body with a length ends with it`(size: Int) {
    var (reply, body) = (HTTPReply(), [UInt8]())
    var rest = Array("HTTP/1.1 403 Refused\r\nContent-Length: 3\r\n\r\nNo.".utf8)[...]
    while !rest.isEmpty, !reply.isComplete {
      reply.add(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
      body += reply.takeBody()
    }
    #expect(reply.status == 403 && reply.isComplete)
    expect(String(decoding: body, as: UTF8.self), equals: "No.")
  }

  @Test func `An address is read, if it is one of this machine`() {
    expect(DevtoolsAddress("http://127.0.0.1:80/?token=ab"), equals: DevtoolsAddress(port: 80, token: "ab"))
    expect(DevtoolsAddress("http://localhost:4711/?x=1&token=ab")?.token, equals: "ab")
    for text in [
      "", "127.0.0.1:80", "http://127.0.0.1:80/", "http://127.0.0.1/?token=ab", "http://evil.example:80/?token=ab",
      "https://127.0.0.1:80/?token=ab", "http://127.0.0.1:0/?token=ab", "http://127.0.0.1:80/?token=",
      "http://127.0.0.1:99999/?token=a",
    ] {
      expect(DevtoolsAddress(text), equals: nil, "\(text)")
    }
  }
}
