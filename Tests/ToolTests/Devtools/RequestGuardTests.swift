#if SwiftOperationDevtools
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct RequestGuardTests {
    private let guardian = RequestGuard(token: "0123456789abcdef", port: 4711)

    private var good: RequestGuard.Claims {
      RequestGuard.Claims(path: "/api/hello", host: "127.0.0.1:4711", authorization: "Bearer 0123456789abcdef")
    }

    private func status(_ change: (inout RequestGuard.Claims) -> Void) -> Int {
      var claims = self.good
      change(&claims)
      if case .refused(let status, _) = self.guardian.judge(claims) { return status }
      return 200
    }

    @Test func `A request of the page is allowed`() {
      expect(self.status { _ in }, equals: 200)
      expect(self.status { $0.host = "localhost:4711" }, equals: 200)
      expect(self.status { $0.origin = "http://127.0.0.1:4711" }, equals: 200)
      expect(self.status { $0.site = "same-origin" }, equals: 200)
      expect(self.status { $0.site = "none" }, equals: 200)
    }

    @Test(arguments: [
      nil, "", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:47110", "evil.example", "evil.example:4711",
      "127.0.0.1.evil.example:4711",
      "127.0.0.1:4711.evil.example", "[::1]:4711", "0.0.0.0:4711",
    ])
    func `A request for another host is refused`(host: String?) {
      expect(self.status { $0.host = host }, equals: 403)
    }

    @Test(arguments: [
      "null", "", "http://evil.example", "https://127.0.0.1:4711", "http://127.0.0.1", "http://127.0.0.1:4712",
      "http://127.0.0.1:4711.evil.example", "http://evil.example:4711", "file://",
    ])
    func `A request of another origin is refused`(origin: String) {
      expect(self.status { $0.origin = origin }, equals: 403)
    }

    @Test(arguments: ["cross-site", "same-site", "unknown"])
    func `A request of another site is refused, and a link to the page is followed`(site: String) {
      expect(self.status { $0.site = site }, equals: 403)
      expect(self.status { ($0.site, $0.isNavigation) = (site, true) }, equals: 403)
      expect(self.status { ($0.site, $0.path, $0.authorization) = (site, "/", nil) }, equals: 403)
      expect(
        self.status { ($0.site, $0.isNavigation, $0.path, $0.authorization) = (site, true, "/", nil) },
        equals: 200
      )
      expect(
        self.status { ($0.site, $0.isNavigation, $0.path, $0.queryToken) = (site, true, "/", "wrong") },
        equals: 401
      )
      expect(self.status { ($0.site, $0.isNavigation, $0.path, $0.method) = (site, true, "/", "POST") }, equals: 403)
    }

    @Test func `The files of the page need no token, and refuse a wrong one`() {
      for path in PageFile.all.keys {
        expect(self.status { ($0.path, $0.authorization) = (path, nil) }, equals: 200)
        expect(self.status { ($0.path, $0.authorization, $0.queryToken) = (path, nil, "") }, equals: 401)
        expect(self.status { ($0.path, $0.authorization, $0.method) = (path, nil, "POST") }, equals: 401)
      }
      expect(self.status { ($0.path, $0.authorization) = ("/devtools", nil) }, equals: 401)
    }

    @Test(arguments: ["OPTIONS", "HEAD", "PUT", "DELETE", "TRACE", "get"])
    func `Other methods are refused`(method: String) {
      expect(self.status { $0.method = method }, equals: 405)
    }

    @Test(arguments: [
      nil, "", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdee", "Bearer 0123456789abcdef ",
      "bearer 0123456789abcdef",
      "Basic 0123456789abcdef", "0123456789abcdef",
    ])
    func `A request without the token is refused`(authorization: String?) {
      expect(self.status { $0.authorization = authorization }, equals: 401)
    }

    @Test func `Only what a browser loads by itself has the token in its address`() {
      expect(self.status { ($0.authorization, $0.queryToken) = (nil, "0123456789abcdef") }, equals: 401)
      expect(self.status { ($0.path, $0.authorization, $0.queryToken) = ("/", nil, "0123456789abcdef") }, equals: 200)
      expect(self.status { ($0.path, $0.authorization, $0.queryToken) = ("/", nil, "wrong") }, equals: 401)
      expect(
        self.status { ($0.method, $0.path, $0.authorization, $0.queryToken) = ("POST", "/", nil, "0123456789abcdef") },
        equals: 401
      )
    }

    @Test func `Each token is another one, of 128 bits`() {
      let tokens = Set((0..<100).map { _ in RequestGuard.makeToken() })
      expect(tokens.count, equals: 100)
      #expect(tokens.allSatisfy { $0.count == 32 && $0.allSatisfy { $0.isHexDigit } })
    }
  }
#endif
