#if os(Linux)
  import Dispatch
  import Foundation
  import OperationCore
  import OperationHTTP
  import OperationTesting
  import TestFixtures
  import Testing

  /// What every transport does, against a server on the loopback interface.
  @Suite(.bounded, .warningsAreIssues)
  struct TransportTests {
    @Test(arguments: TestedTransport.allCases)
    func `A request arrives as it is, and so does the answer`(tested: TestedTransport) async throws {
      let transport = tested.make()
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
      let response = try await transport.send(request)
      #expect(response.status == 201 && response.fields["x-answer"] == "yes")
      try await expect(response.data(), equals: Data("hello".utf8))
      let received = try await heads.next()
      #expect(received.hasPrefix("PUT /posts HTTP/1.1") && received.hasSuffix("\ncontent"))
      #expect(received.contains("X-Question: what"))
    }

    @Test(arguments: TestedTransport.allCases, [#"Basic realm="posts""#, #"Bearer realm="posts""#, "Bearer"])
    func `A server that asks for credentials gives its answer`(tested: TestedTransport, challenge: String) async throws
    {
      let transport = tested.make()
      let server = try LoopbackServer { $0.answer(401, ["WWW-Authenticate: \(challenge)"], "who are you") }
      let response = try await transport.send(OperationHTTPRequest(server.url("posts")))
      expect(response.status, equals: 401)
      try await expect(response.data(), equals: Data("who are you".utf8))
    }

    @Test(arguments: TestedTransport.allCases)
    func `A redirection is followed`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let server = try LoopbackServer { connection in
        if connection.head.hasPrefix("GET /old") {
          connection.answer(302, ["Location: /new"])
        } else {
          connection.answer(200, [], "new")
        }
      }
      let response = try await transport.send(OperationHTTPRequest(server.url("old")))
      try await expect(response.data(), equals: Data("new".utf8))
    }

    @Test(arguments: TestedTransport.allCases)
    func `A cancelled task gets its error before the server has answered, and the request ends`(
      tested: TestedTransport
    ) async throws {
      let transport = tested.make()
      let events = Receiver<String>()
      let server = try LoopbackServer { connection in
        events.receive("asked")
        connection.waitForClose()
        events.receive("left")
      }
      let run = Task { try await transport.send(OperationHTTPRequest(server.url("slow"))) }
      try await events.last("asked")
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await events.last("left")
    }

    @Test(arguments: TestedTransport.allCases)
    func `A body arrives in parts, and ends with the task that reads it`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let events = Receiver<String>()
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none")
        connection.waitForClose()
        events.receive("left")
      }
      let parts = Receiver<Data>()
      let run = Task {
        let response = try await transport.send(OperationHTTPRequest(server.url("stream")))
        for try await part in response.body { parts.receive(part) }
      }
      try await expect(parts.next(), equals: Data("one".utf8))
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await events.last("left")
    }

    @Test(arguments: TestedTransport.allCases)
    func `A body that nobody reads ends its request`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let events = Receiver<String>()
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none")
        connection.waitForClose()
        events.receive("left")
      }
      let status = try await transport.send(OperationHTTPRequest(server.url("stream"))).status
      expect(status, equals: 200)
      try await events.last("left")
    }

    @Test(arguments: TestedTransport.allCases)
    func `A body that is longer than it may be ends its request`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let events = Receiver<String>()
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none and two")
        connection.waitForClose()
        events.receive("left")
      }
      let error = await #expect(throws: OperationHTTPContentError.self) {
        try await transport.send(OperationHTTPRequest(server.url("long"))).data(upTo: 4)
      }
      expect(error?.code, equals: .tooLong)
      try await events.last("left")
    }

    @Test(arguments: TestedTransport.allCases)
    func `A second reader goes on where the first one has ended`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let goOn = DispatchSemaphore(value: 0)
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none")
        guard goOn.waitForSignal() else { return }
        connection.send("two")
      }
      let response = try await transport.send(OperationHTTPRequest(server.url("stream")))
      for try await part in response.body {
        expect(part, equals: Data("one".utf8))
        break
      }
      goOn.signal()
      try await expect(response.data(), equals: Data("two".utf8))
      #expect(try await response.data().isEmpty)
    }

    @Test(arguments: TestedTransport.allCases)
    func `A body in chunks is whole`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.send("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")
      }
      let response = try await transport.send(OperationHTTPRequest(server.url("chunks")))
      try await expect(response.data(), equals: Data("onetwo".utf8))
    }

    @Test(arguments: TestedTransport.allCases)
    func `An answer to HEAD has no body, whatever its length field is`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\n")
      }
      let response = try await transport.send(OperationHTTPRequest(server.url("head"), method: "HEAD"))
      expect(response.fields["content-length"], equals: "9")
      #expect(try await response.data().isEmpty)
    }

    @Test(arguments: TestedTransport.allCases)
    func `Fields of one name keep their values, in their order`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let server = try LoopbackServer { $0.answer(200, ["Warning: one", "Warning: two"]) }
      let response = try await transport.send(OperationHTTPRequest(server.url("post")))
      expect(response.fields.filter { $0.name == "Warning" }.map(\.value).joined(separator: ", "), equals: "one, two")
    }

    @Test(arguments: TestedTransport.allCases)
    func `A session keeps cookies, and no other transport does`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let heads = Receiver<String>()
      let server = try LoopbackServer { connection in
        heads.receive(connection.head)
        connection.answer(200, ["Set-Cookie: seen=yes; Path=/"])
      }
      for _ in 0..<2 { _ = try await transport.send(OperationHTTPRequest(server.url("post"))).data() }
      #expect(try await !heads.next().contains("seen=yes"))
      try await expect(heads.next().contains("seen=yes"), equals: tested.keepsCookies)
    }

    @Test(arguments: TestedTransport.allCases)
    func `The date of Retry-After is read`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let server = try LoopbackServer { $0.answer(503, ["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"], "busy") }
      let response = try await transport.send(OperationHTTPRequest(server.url("busy")))
      let error = await #expect(throws: OperationHTTPStatusError.self) {
        try await response.successful(now: Date(timeIntervalSince1970: 784_111_770))
      }
      #expect(error?.status == 503 && error?.body == Data("busy".utf8) && error?.retryAfter == .seconds(7))
    }

    @Test(arguments: TestedTransport.allCases)
    func `A body that breaks off is a failure`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let server = try LoopbackServer { $0.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none") }
      let response = try await transport.send(OperationHTTPRequest(server.url("short")))
      for _ in 0..<2 {
        let error = await #expect(throws: (any Error).self) { try await response.data() }
        #expect(tested.isConnectionFailure(error))
      }
    }

    @Test(arguments: TestedTransport.allCases)
    func `What is no server is a failure that a retry may try again`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let address = try LoopbackServer { _ in }.address
      let error = await #expect(throws: (any Error).self) {
        try await transport.send(OperationHTTPRequest(address))
      }
      #expect(tested.isConnectionFailure(error))
    }

    @Test(arguments: TestedTransport.allCases)
    func `A query yields the parts of a streamed answer, and asks with the tag of the last one`(
      tested: TestedTransport
    ) async throws {
      let transport = tested.make()
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
      let store = OperationStore.detached(query: query.context { $0.operationHTTPTransport = transport })
      let values = Receiver<[String]>()
      let subscription = store.subscribe { state in
        if let value = state.currentValue { values.receive(value) }
      }
      let run = Task { try await store.fetch() }
      try await values.last(["one"])
      goOn.signal()
      try await expect(run.value, equals: ["one", "two"])
      try await expect(store.fetch(), equals: ["one", "two"])
      expect(heads.count, equals: 2)
      subscription.cancel()
    }

    // The request of a task that is cancelled while its connection fails is where URLSession itself stands still on Linux.
    @Test(arguments: TestedTransport.allCases)
    func `Requests that are cancelled while they fail end, all of them`(tested: TestedTransport) async throws {
      let transport = tested.make()
      let server = try LoopbackServer { _ in }
      let ended = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<300 {
          group.addTask {
            let run = Task { try await transport.send(OperationHTTPRequest(server.url("\(number)"))) }
            if number.isMultiple(of: 2) { run.cancel() }
            let other = Task { run.cancel() }
            _ = await run.result
            await other.value
            return true
          }
        }
        return await group.reduce(into: 0) { count, _ in count += 1 }
      }
      expect(ended, equals: 300)
    }

    @Test(arguments: TestedTransport.allCases)
    func `A transport that is dropped lets its requests end`(tested: TestedTransport) async throws {
      let goOn = DispatchSemaphore(value: 0)
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none")
        guard goOn.waitForSignal() else { return }
        connection.send("two")
      }
      let response = try await tested.make().send(OperationHTTPRequest(server.url("stream")))
      goOn.signal()
      try await expect(response.data(), equals: Data("onetwo".utf8))
    }
  }
#endif
