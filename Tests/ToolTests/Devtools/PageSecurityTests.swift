#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationTesting
  import OperationTop
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  /// Each rule over real HTTP, as anybody who can open a connection to the port meets it.
  @Suite(.bounded) struct PageSecurityTests {
    private static let paths = [
      "/", "/devtools.js", "/devtools.css", "/icon.svg", "/api/hello", "/api/stores", "/api/events",
      "/api/explanation?store=1",
      "/api/value?store=1", "/api/recording", "/nothing",
    ]

    private let script = OperationScript<String, any Error>(default: .value("secret text"))
    private let client = OperationClient()

    @Test func `Without the token there are the files of the page, which tell nothing of the program`() async throws {
      let store = self.client.store(for: self.script.query(path: ["numbers"]))
      try await store.fetch()
      try await Served.with(Devtools(self.client)) { served in
        for path in Self.paths {
          for fields in [[], [("Authorization", "Bearer 00000000000000000000000000000000")]] as [[(String, String)]] {
            let answer = try await served.send("GET", path, [("Host", "127.0.0.1:\(served.address.port)")] + fields)
            if let file = PageFile.all[path] {
              #expect(answer.status == 200 && answer.body == file.text, "\(path)")
            } else {
              expect(answer.status, equals: 401, "\(path)")
            }
            for secret in [served.address.token, "secret text"] { #expect(!answer.body.contains(secret)) }
          }
          let other = path + (path.contains("?") ? "&" : "?") + "token=00000000000000000000000000000000"
          let answer = try await served.send("GET", other, [("Host", "127.0.0.1:\(served.address.port)")])
          expect(answer.status, equals: 401, "\(other)")
        }
      }
    }

    @Test func `The token in the address opens the page, and no data`() async throws {
      try await Served.with(Devtools(self.client)) { served in
        let host = [("Host", "127.0.0.1:\(served.address.port)")]
        for path in ["/", "/devtools.js", "/devtools.css", "/icon.svg"] {
          let status1 = try await served.send("GET", "\(path)?token=\(served.address.token)", host).status
          expect(status1, equals: 200, "\(path)")
        }
        for path in ["/api/hello", "/api/stores", "/api/events", "/api/recording"] {
          let status2 = try await served.send("GET", "\(path)?token=\(served.address.token)", host).status
          expect(status2, equals: 401, "\(path)")
        }
      }
    }

    @Test func `A page of another origin can neither read nor act, even with the token`() async throws {
      let store = self.client.store(for: self.script.query(path: ["numbers"]))
      try await store.fetch()
      try await Served.with(Devtools(self.client, allowsActions: true)) { served in
        let status3 = try await served.get("/api/stores").status
        expect(status3, equals: 200)
        let foreign: [[(String, String)]] = [
          [("Origin", "http://evil.example")], [("Origin", "null")], [("Origin", "http://127.0.0.1:1")],
          [("Sec-Fetch-Site", "cross-site")],
        ]
        for extra in foreign {
          for path in Self.paths {
            let answer = try await served.send("GET", path, served.fields + extra)
            expect(answer.status, equals: 403, "\(path) \(extra)")
            #expect(!answer.body.contains("numbers"))
          }
          let action = try await served.send(
            "POST",
            "/api/action",
            served.fields + extra,
            #"{"action":"reset","store":1}"#
          )
          expect(action.status, equals: 403)
        }
        expect(store.currentValue, equals: "secret text")
      }
    }

    @Test func `A name that leads to this machine does not lead to the page`() async throws {
      try await Served.with(Devtools(self.client)) { served in
        for host in ["evil.example", "evil.example:\(served.address.port)", "127.0.0.1"] {
          let fields = [("Host", host), ("Authorization", "Bearer \(served.address.token)")]
          let status4 = try await served.send("GET", "/api/stores", fields).status
          expect(status4, equals: 403)
        }
      }
    }

    @Test func `No answer lets another origin read it, and a preflight is refused`() async throws {
      try await Served.with(Devtools(self.client)) { served in
        var answers: [LoopbackHTTP.Answer] = []
        for path in Self.paths where path != "/api/events" { answers.append(try await served.get(path)) }
        let preflight = [("Origin", "http://evil.example"), ("Access-Control-Request-Method", "POST")]
        answers.append(try await served.send("OPTIONS", "/api/action", served.fields + preflight))
        expect(answers.last?.status, equals: 403)
        for answer in answers {
          #expect(!answer.fields.keys.contains { $0.hasPrefix("access-control") })
          expect(answer.fields["cross-origin-resource-policy"], equals: "same-origin")
          expect(answer.fields["x-content-type-options"], equals: "nosniff")
          expect(answer.fields["referrer-policy"], equals: "no-referrer")
          expect(answer.fields["cache-control"], equals: "no-store")
        }
      }
    }

    @Test func `The page runs its own files alone`() async throws {
      try await Served.with(Devtools(self.client)) { served in
        let page = try await served.send(
          "GET",
          "/?token=\(served.address.token)",
          [("Host", "127.0.0.1:\(served.address.port)")]
        )
        let policy = try #require(page.fields["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"))
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
        #expect(policy.contains("require-trusted-types-for 'script'; trusted-types 'none'"))
        #expect(!policy.contains("unsafe") && !policy.contains("*") && !policy.contains("http"))
        // What the policy would refuse is not there: scripts, styles and handlers in the text, and other hosts.
        expect(page.body.ranges(of: "<script").count, equals: 1)
        for forbidden in ["<style", " style=", " onclick", " onload", "javascript:", "//cdn", "https://"] {
          #expect(!page.body.contains(forbidden), "\(forbidden)")
        }
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
          #expect(!EmbeddedPage.script.contains(forbidden), "\(forbidden)")
        }
      }
    }

    @Test func `Without leave the page changes nothing`() async throws {
      let store = self.client.store(for: self.script.query(path: ["numbers"]))
      try await store.fetch()
      let (runs, isStale) = (self.script.runCount, store.isStale)
      try await Served.with(Devtools(self.client, simulation: Simulation())) { served in
        _ = try await served.get("/api/stores")
        for action in ["refetch", "invalidate", "reset", "cancel", "set", "simulate"] {
          let answer = try await served.post(#"{"action":"\#(action)","store":1,"value":"\"x\"","isOffline":true}"#)
          expect(answer.status, equals: 403, "\(action)")
          #expect(answer.body.contains("allowsActions"))
        }
      }
      expect(store.currentValue, equals: "secret text")
      #expect(self.script.runCount == runs && store.isStale == isStale)
    }

    @Test func `A body that is too long or no JSON is refused`() async throws {
      try await Served.with(Devtools(self.client, allowsActions: true)) { served in
        let status5 = try await served.post(String(repeating: " ", count: 1 << 20) + "{}").status
        expect(status5, equals: 413)
        let status6 = try await served.post("{").status
        expect(status6, equals: 400)
        let status7 = try await served.post(#"{"action":"destroy","store":1}"#).status
        expect(status7, equals: 400)
      }
    }

    #if os(Linux)
      @Test func `The port is open on the loopback interface alone`() async throws {
        try await Served.with(Devtools(self.client)) { served in
          let port = String(format: "%04X", served.address.port)
          let lines = try ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path in
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
          }
          let listening = lines.map { $0.split(separator: " ") }.filter {
            $0.count > 3 && $0[3] == "0A" && $0[1].hasSuffix(":\(port)")
          }
          expect(listening.map { String($0[1]) }, equals: ["0100007F:\(port)"])
        }
      }
    #endif

    @Test func `Hostile texts stay texts`() async throws {
      let hostile = "</script><img src=x onerror=alert(1)>\u{2028}\"'&"
      let script = OperationScript<String, any Error>(default: .value(hostile))
      let store = self.client.store(for: script.query(path: ["<b>bold</b>", hostile]))
      try await store.fetch()
      try await Served.with(Devtools(self.client)) { served in
        let stores = try await served.get("/api/stores")
        let row = try #require(try Message(stores.body).stores?.first)
        expect(row.path, equals: ["\"<b>bold</b>\"", hostile.debugDescription])
        for path in ["/api/stores", "/api/value?store=\(row.id)", "/api/explanation?store=\(row.id)", "/api/recording"]
        {
          let answer = try await served.get(path)
          expect(answer.status, equals: 200)
          #expect(!answer.body.contains { $0 == "<" || $0 == ">" || $0 == "\u{2028}" }, "\(path)")
          expect(answer.fields["content-type"]?.contains("html"), equals: false)
        }
      }
    }
  }
#endif
