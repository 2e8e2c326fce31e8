#if os(Linux)
  import Dispatch
  import Foundation
  import OperationCore
  import OperationHTTP
  import OperationTesting
  import TestFixtures
  import Testing

  /// `URLSessionTransport`, against a server on the loopback interface.
  @Suite(.bounded, .warningsAreIssues)
  struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    @Test
    func `A request arrives as it is, and so does the answer`() async throws {
      let heads = Receiver<String>()
      let server = try LoopbackServer { connection in
        heads.receive(connection.head + "\n" + connection.body)
        connection.answer(201, ["X-Answer: yes"], "hello")
      }
      let request = OperationHTTPRequest(
        server.url("posts"),
        method: "PUT",
        fields: ["X-Question": "what", "Content-Type": "text/plain"],
        body: Data("content".utf8)
      )
      let response = try await self.transport.send(request)
      #expect(response.status == 201 && response.fields["x-answer"] == "yes")
      #expect(try await response.data() == Data("hello".utf8))
      let received = try await heads.next()
      #expect(received.hasPrefix("PUT /posts HTTP/1.1") && received.hasSuffix("\ncontent"))
      #expect(received.contains("X-Question: what"))
    }

    @Test(arguments: [#"Basic realm="posts""#, #"Bearer realm="posts""#, "Bearer"])
    func `A server that asks for credentials gives its answer`(challenge: String) async throws {
      let server = try LoopbackServer { $0.answer(401, ["WWW-Authenticate: \(challenge)"], "who are you") }
      let response = try await self.transport.send(OperationHTTPRequest(server.url("posts")))
      #expect(response.status == 401)
      #expect(try await response.data() == Data("who are you".utf8))
    }

    @Test
    func `A redirection is followed`() async throws {
      let server = try LoopbackServer { connection in
        if connection.head.hasPrefix("GET /old") {
          connection.answer(302, ["Location: /new"])
        } else {
          connection.answer(200, [], "new")
        }
      }
      let response = try await self.transport.send(OperationHTTPRequest(server.url("old")))
      #expect(try await response.data() == Data("new".utf8))
    }

    @Test
    func `A cancelled task gets its error before the server has answered, and the request ends`() async throws {
      let events = Receiver<String>()
      let server = try LoopbackServer { connection in
        events.receive("asked")
        connection.waitForClose()
        events.receive("left")
      }
      let run = Task { try await self.transport.send(OperationHTTPRequest(server.url("slow"))) }
      try await events.last("asked")
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await events.last("left")
    }

    @Test
    func `A body arrives in parts, and ends with the task that reads it`() async throws {
      let events = Receiver<String>()
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none")
        connection.waitForClose()
        events.receive("left")
      }
      let parts = Receiver<Data>()
      let run = Task {
        let response = try await self.transport.send(OperationHTTPRequest(server.url("stream")))
        for try await part in response.body { parts.receive(part) }
      }
      #expect(try await parts.next() == Data("one".utf8))
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await events.last("left")
    }

    @Test
    func `A body that nobody reads ends its request`() async throws {
      let events = Receiver<String>()
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none")
        connection.waitForClose()
        events.receive("left")
      }
      let status = try await self.transport.send(OperationHTTPRequest(server.url("stream"))).status
      #expect(status == 200)
      try await events.last("left")
    }

    @Test
    func `A body that breaks off is a failure`() async throws {
      let server = try LoopbackServer { $0.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none") }
      let response = try await self.transport.send(OperationHTTPRequest(server.url("short")))
      await #expect(throws: URLError.self) { try await response.data() }
    }

    @Test
    func `What is no server is a failure that a retry may try again`() async throws {
      let address = try LoopbackServer { _ in }.address
      let error = await #expect(throws: (any Error).self) {
        try await self.transport.send(OperationHTTPRequest(address))
      }
      #expect(error is URLError)
    }

    @Test
    func `A query yields the parts of a streamed answer, and asks with the tag of the last one`() async throws {
      let goOn = DispatchSemaphore(value: 0)
      let heads = Receiver<String>()
      let server = try LoopbackServer { connection in
        heads.receive(connection.head)
        if connection.head.contains("If-None-Match: \"v1\"") { return connection.answer(304) }
        connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 8\r\n\r\none\n")
        guard goOn.waitForSignal() else { return }
        connection.send("two\n")
      }
      let query = HTTPQuery(server.url("lines")).streamingLines(into: [String]()) { $0.append($1) }
      let store = OperationStore.detached(query: query.sent(by: self.transport))
      let values = Receiver<[String]>()
      let subscription = store.subscribe { state in
        if let value = state.currentValue { values.receive(value) }
      }
      let run = Task { try await store.fetch() }
      try await values.last(["one"])
      goOn.signal()
      #expect(try await run.value == ["one", "two"])
      #expect(try await store.fetch() == ["one", "two"])
      #expect(heads.count == 2)
      subscription.cancel()
    }

    // The request of a task that is cancelled while its connection fails is where URLSession itself stands still on Linux.
    @Test
    func `Requests that are cancelled while they fail end, all of them`() async throws {
      let server = try LoopbackServer { _ in }
      let ended = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<300 {
          group.addTask {
            let run = Task { try await self.transport.send(OperationHTTPRequest(server.url("\(number)"))) }
            if number.isMultiple(of: 2) { run.cancel() }
            let other = Task { run.cancel() }
            _ = await run.result
            await other.value
            return true
          }
        }
        return await group.reduce(into: 0) { count, _ in count += 1 }
      }
      #expect(ended == 300)
    }

    @Test
    func `A transport that is dropped lets its requests end`() async throws {
      let goOn = DispatchSemaphore(value: 0)
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none")
        guard goOn.waitForSignal() else { return }
        connection.send("two")
      }
      let response = try await URLSessionTransport().send(OperationHTTPRequest(server.url("stream")))
      goOn.signal()
      #expect(try await response.data() == Data("onetwo".utf8))
    }
  }
#endif
