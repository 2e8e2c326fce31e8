#if SwiftOperationDevtools
  import Foundation
  import OperationCore
  import OperationTesting
  import OperationTop
  import TestFixtures
  import Testing

  @testable import OperationDevtools

  @Suite(.bounded) struct RecordingTests {
    private let script = OperationScript<String, any Error>(default: .value("a secret value"))
    private let client = OperationClient()
    private let path = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID()).ndjson")
      .path(percentEncoded: false)

    /// Records what happens while `body` runs.
    private func record(limit: Int = 1 << 20, _ body: (FeedConnection) async throws -> Void) async throws {
      let devtools = Devtools(self.client)
      try await devtools.start()
      let watching = try #require(await devtools.liveFeed?.connect())
      let recording = Task { [path] in try await devtools.record(to: path, limit: limit) }
      try await body(watching)
      recording.cancel()
      try await recording.value
      await devtools.stop()
    }

    @Test func `A recording has the states, the events and the explanations, and no values`() async throws {
      defer { try? FileManager.default.removeItem(atPath: self.path) }
      let store = self.client.store(for: self.script.query(path: ["numbers", 1]))
      try await self.record { watching in
        try await store.fetch()
        while try await !watching.messages().contains(where: { $0.events?.contains { $0.kind == "run.ended" } == true })
        {}
      }
      let text = try String(contentsOfFile: self.path, encoding: .utf8)
      let messages = try text.split(separator: "\n").map { try Message($0) }
      expect(messages.first?.type, equals: "hello")
      #expect(messages.flatMap { $0.stores ?? [] }.contains { $0.path == ["\"numbers\"", "1"] })
      expect(messages.last?.type, equals: "explanation")
      expect(messages.last?.lines?.first?.hasSuffix(#"at ["numbers", 1]"#), equals: true)
      #expect(!text.contains("a secret value"))
      let attributes = try FileManager.default.attributesOfItem(atPath: self.path)
      expect(attributes[.posixPermissions] as? Int, equals: 0o600)
    }

    @Test func `A recording ends at its full size, with whole lines`() async throws {
      defer { try? FileManager.default.removeItem(atPath: self.path) }
      let devtools = Devtools(self.client)
      _ = self.client.store(for: self.script.query(path: [String(repeating: "x", count: 1000)]))
      try await devtools.record(to: self.path, limit: 1000)
      await devtools.stop()
      let text = try String(contentsOfFile: self.path, encoding: .utf8)
      #expect(text.utf8.count <= 1000 && text.hasSuffix("\n"))
      try expect(text.split(separator: "\n").map { try Message($0).type }.first, equals: "hello")
    }

    @Test func `A recording is served like a program, and nothing can be done in it`() async throws {
      let lines = """
        {"type":"hello","version":1,"program":"shop","live":true,"actions":true,"date":1}
        {"type":"update","date":2,"stores":[]}
        {"type":"upd
        """
      try lines.write(toFile: self.path, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(atPath: self.path) }
      try await Served.with(try Devtools(recordedIn: self.path)) { served in
        let hello = try await served.get("/api/hello")
        expect(hello.body, equals: #"{"type":"hello","version":1,"program":"shop","date":1}"#)
        let action = try await served.post(#"{"action":"reset","store":1}"#)
        expect(action.status, equals: 403)
        let recording = try await served.get("/api/recording")
        expect(recording.body.split(separator: "\n").count, equals: 2)
        let refused = try await served.send("GET", "/api/recording", [("Host", "127.0.0.1:\(served.address.port)")])
        expect(refused.status, equals: 401)
      }
    }

    @Test(arguments: ["", "{}\n", "#!/bin/sh\n", "{\"type\":\"hello\",\"version\":2,\"x\":1}\n"])
    func `Another file is refused`(text: String) throws {
      try text.write(toFile: self.path, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(atPath: self.path) }
      let error = #expect(throws: DevtoolsError.self) { try Devtools(recordedIn: self.path) }
      expect(error?.description, equals: "\(self.path) is no recording of a client.")
      #expect(throws: DevtoolsError.self) { try Devtools(recordedIn: "/nowhere/at/all") }
    }

    @Test func `A terminal attaches to the program`() async throws {
      let store = self.client.store(for: self.script.query(path: ["numbers", 1]))
      try await store.fetch()
      try await Served.with(Devtools(self.client, allowsActions: true)) { served in
        let shown = try await Served.onThread { [address = served.address] in
          let session = try TopSession(address)
          while !session.model.isReady { try session.read() }
          let view = TopView()
          let id = session.model.sorted(by: .path)[0].row.id
          let lines = TopScreen(width: 80, height: 24).lines(session.model, view, connection: "").map(\.text)
          let explanation = try session.explanation(of: id)
          try session.perform("reset", store: id)
          return (lines, explanation)
        }
        #expect(shown.0[3].hasPrefix("numbers/1"))
        expect(shown.1.first?.hasSuffix(#"at ["numbers", 1]"#), equals: true)
        expect(store.currentValue, equals: nil)
        let wrong = DevtoolsAddress(port: served.address.port, token: String(repeating: "0", count: 32))
        await #expect(throws: LoopbackError.self) {
          try await Served.onThread {
            let session = try TopSession(wrong)
            while !session.model.isReady { try session.read() }
          }
        }
      }
    }
  }
#endif
