#if SwiftOperationDevtools
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct RequestReaderTests {
    private static let request =
      "POST /api/action?store=1&a=b%20c&store=2&empty HTTP/1.1\r\nHost:\t127.0.0.1:80 \r\nX-Two: a\r\nx-two:b\r\n"
      + "Content-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\n\r\n"

    private func read(
      _ text: String,
      by size: Int = .max,
      admit: (PageRequest) throws(PageRefusal) -> Void = { _ in }
    ) throws -> PageRequest? {
      var (reader, rest) = (RequestReader(), Array(text.utf8)[...])
      while !rest.isEmpty {
        if let request = try reader.add(rest.prefix(size), admit: admit) { return request }
        rest = rest.dropFirst(size)
      }
      return nil
    }

    private func status(_ text: String) -> Int {
      do { return try self.read(text) == nil ? 0 : 200 } catch { return (error as? PageRefusal)?.status ?? -1 }
    }

    @Test(arguments: [1, 2, 3, 7, 1_000]) func `A request is the same however it arrives`(size: Int) throws {
      let request = try #require(try self.read(Self.request, by: size))
      #expect(request.method == "POST" && request.path == "/api/action" && request.body == "body")
      expect(request.query, equals: ["store": "1", "a": "b%20c", "empty": ""])
      expect(request.fields, equals: ["host": "127.0.0.1:80", "x-two": "a, b", "content-length": "4"])
    }

    @Test func `A request that is not complete is waited for`() {
      for text in [
        "", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r", "GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
      ] {
        expect(self.status(text), equals: 0, "\(text.debugDescription)")
      }
      expect(self.status("GET / HTTP/1.0\r\n\r\n"), equals: 200)
    }

    @Test(arguments: [1, 100, 5_000])
    func `A head of more than 8 kB is refused as soon as it is one`(size: Int) throws {
      let limit = RequestReader.headLimit
      let fitting = "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: limit - 23) + "\r\n\r\n"
      expect(fitting.utf8.count, equals: limit)
      #expect(try self.read(fitting, by: size) != nil)
      for long in [
        "GET /" + String(repeating: "a", count: 60_000) + " HTTP/1.1\r\n\r\n", fitting.replacing("X: ", with: "X: a"),
        String(repeating: "\r\n", count: limit),
      ] {
        var (reader, count) = (RequestReader(), 0)
        let refusal = #expect(throws: PageRefusal.self) {
          var rest = Array(long.utf8)[...]
          while !rest.isEmpty {
            count += rest.prefix(size).count
            _ = try reader.add(rest.prefix(size))
            rest = rest.dropFirst(size)
          }
        }
        expect(refusal.map { [400, 431].contains($0.status) }, equals: true)
        #expect(count < limit + size + 1)
      }
    }

    @Test func `A body of more than 1 MB, and one without a length, is refused before it comes`() {
      expect(self.status("POST / HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n"), equals: 0)
      expect(self.status("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"), equals: 413)
      expect(self.status("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"), equals: 413)
      expect(self.status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), equals: 411)
    }

    @Test(arguments: [
      "GET\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", " GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1 \r\n\r\n",
      "GET http://a/ HTTP/1.1\r\n\r\n",
      "GET * HTTP/1.1\r\n\r\n",
      "GET / SPDY/1.1\r\n\r\n",
      "\r\nGET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\n: a\r\n\r\n",
      "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
      "GET / HTTP/1.1\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\rHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\0\r\n\r\n", "GET /\u{7F} HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "GET / HTTP/1.1\r\nContent-Length: \r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n",
    ])
    func `What is no request is refused`(text: String) {
      expect(self.status(text), equals: 400)
    }

    @Test func `Another version is refused`() {
      expect(self.status("GET / HTTP/2.0\r\n\r\n"), equals: 505)
      expect(self.status("PRI * HTTP/2.0\r\n\r\n"), equals: 400)
    }

    @Test func `A request is admitted once, by its head`() throws {
      var count = 0
      let refusal = #expect(throws: PageRefusal.self) {
        try self.read("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", by: 3) { request throws(PageRefusal) in
          count += 1
          throw PageRefusal(401, request.method)
        }
      }
      #expect(count == 1 && refusal == PageRefusal(401, "POST"))
    }

    @Test func `Random bytes and damaged requests are read without a trap`() {
      var random = SeededGenerator(seed: 9112)
      for _ in 1...5_000 {
        var bytes = Array(Self.request.utf8)
        for _ in 0..<Int.random(in: 0...5, using: &random) {
          let byte = [UInt8.random(in: 0...255, using: &random), 13, 10, 32, 58].randomElement(using: &random) ?? 0
          let index = Int.random(in: 0..<bytes.count, using: &random)
          if Bool.random(using: &random) { bytes[index] = byte } else { bytes.insert(byte, at: index) }
        }
        var reader = RequestReader()
        if let request = try? reader.add(bytes) { #expect(request.body.utf8.count <= bytes.count * 3) }
      }
    }
  }
#endif
