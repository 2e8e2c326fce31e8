#if SwiftOperationAsyncHTTPClient && os(Linux)
  import AsyncHTTPClient
  import Foundation
  import OperationAsyncHTTPClient
  import OperationCore
  import OperationHTTP
  import OperationTesting
  import TestFixtures
  import Testing

  /// What `AsyncHTTPClientTransport` alone does; `TransportTests` has what all transports do.
  @Suite(.bounded, .warningsAreIssues)
  struct AsyncHTTPClientTransportTests {
    private let transport = AsyncHTTPClientTransport.shared

    @Test
    func `A server that does not answer in time is a failure that passes`() async throws {
      let server = try LoopbackServer { $0.waitForClose() }
      let impatient = AsyncHTTPClientTransport(.shared, timeout: .zero)
      let error = await self.failure { try await impatient.send(OperationHTTPRequest(server.url("slow"))) }
      #expect(error?.code == .timedOut && error?.retryClassification == .retry)
      #expect(error?.cause as? HTTPClientError == .deadlineExceeded)
    }

    @Test(arguments: [nil, .seconds(60), .seconds(Int64.max), .nanoseconds(Int64.max)] as [OperationDuration?])
    func `An answer that is there takes no time limit, however long it is`(timeout: OperationDuration?) async throws {
      let server = try LoopbackServer { $0.answer(200, [], "there") }
      let patient = AsyncHTTPClientTransport(.shared, timeout: timeout)
      #expect(try await patient.send(OperationHTTPRequest(server.url("post"))).data() == Data("there".utf8))
    }

    @Test
    func `A connection that fails is a failure that passes`() async throws {
      let address = try LoopbackServer { _ in }.address
      let error = await self.failure { try await self.transport.send(OperationHTTPRequest(address)) }
      #expect(error?.code == .connectionFailed && error?.retryClassification == .retry)
      let closed = try LoopbackServer { _ in }
      let other = await self.failure { try await self.transport.send(OperationHTTPRequest(closed.url("nothing"))) }
      #expect(other?.code == .connectionFailed && other?.retryClassification == .retry)
      #expect(other?.description == "The connection has failed: Remote connection closed.")
    }

    @Test
    func `A request that cannot be sent is no use to try again`() async throws {
      let server = try LoopbackServer { $0.answer(200) }
      let other = try #require(URL(string: "gopher://127.0.0.1/posts"))
      for request in [
        OperationHTTPRequest(other),
        OperationHTTPRequest(server.url("post"), fields: ["X-Two": "a\r\nX-Secret: b"]),
        OperationHTTPRequest(server.url("post"), fields: ["X Space": "a"]),
      ] {
        let error = await self.failure { try await self.transport.send(request) }
        #expect(error?.code == .invalidRequest && error?.retryClassification == .never)
        #expect(error.map { !"\($0)".contains("Secret") } == true)
      }
    }

    @Test
    func `A client that is shut down is no use to try again`() async throws {
      let server = try LoopbackServer { $0.answer(200) }
      let client = HTTPClient()
      try await client.shutdown()
      let error = await self.failure {
        try await AsyncHTTPClientTransport(client).send(OperationHTTPRequest(server.url("post")))
      }
      #expect(error?.code == .invalidRequest && error?.cause as? HTTPClientError == .alreadyShutdown)
    }

    @Test
    func `Redirections in a circle end`() async throws {
      let server = try LoopbackServer { $0.answer(302, ["Location: /again"]) }
      let error = await self.failure { try await self.transport.send(OperationHTTPRequest(server.url("again"))) }
      #expect(error?.code == .tooManyRedirections && error?.retryClassification == .never)
    }

    @Test
    func `A redirection to another server takes no credentials along`() async throws {
      let heads = Receiver<String>()
      let other = try LoopbackServer { connection in
        heads.receive(connection.head)
        connection.answer(200, [], "other")
      }
      let target = other.url("new").absoluteString
      let server = try LoopbackServer { connection in
        heads.receive(connection.head)
        connection.answer(307, ["Location: \(target)"])
      }
      let fields: OperationHTTPFields = ["Authorization": "Bearer secret", "X-Question": "what"]
      let request = OperationHTTPRequest(server.url("old"), method: "PUT", fields: fields, body: Data("content".utf8))
      #expect(try await self.transport.send(request).data() == Data("other".utf8))
      #expect(try await heads.next().contains("Bearer secret"))
      let redirected = try await heads.next()
      #expect(redirected.hasPrefix("PUT /new") && redirected.contains("X-Question: what"))
      #expect(!redirected.contains("secret"))
    }

    @Test
    func `A client that follows no redirections hands them over`() async throws {
      let server = try LoopbackServer { $0.answer(302, ["Location: /new"]) }
      let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
      let answer = try await AsyncHTTPClientTransport(client).send(OperationHTTPRequest(server.url("old")))
      #expect(answer.status == 302 && answer.fields["location"] == "/new")
      #expect(try await answer.data().isEmpty)
      try await client.shutdown()
    }

    // On Linux, URLSession ends the process here.
    @Test
    func `What follows a body in chunks is left out`() async throws {
      let server = try LoopbackServer { connection in
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n")
        connection.send("3\r\none\r\n3\r\ntwo\r\n0\r\nX-Sum: 6\r\n\r\n")
      }
      let response = try await self.transport.send(OperationHTTPRequest(server.url("chunks")))
      #expect(try await response.data() == Data("onetwo".utf8))
      #expect(response.fields["X-Sum"] == nil)
    }

    @Test
    func `Fields of one name stay apart, in their order`() async throws {
      let server = try LoopbackServer { $0.answer(200, ["Set-Cookie: a=1", "Set-Cookie: b=2"]) }
      let answer = try await self.transport.send(OperationHTTPRequest(server.url("post")))
      #expect(answer.fields.filter { $0.name == "Set-Cookie" }.map(\.value) == ["a=1", "b=2"])
    }

    private func failure(_ body: () async throws -> OperationHTTPResponse) async -> AsyncHTTPClientTransportError? {
      await #expect(throws: AsyncHTTPClientTransportError.self) { _ = try await body() }
    }
  }
#endif
