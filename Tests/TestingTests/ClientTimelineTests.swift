import OperationCore
import TestFixtures
import Testing

@testable import OperationTesting

@Suite(.bounded) struct ClientTimelineTests {
  private let timeline = ClientTimeline()
  private let client = OperationClient()
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>(default: .value(1))

  init() {
    self.client.defaultContext.operationDeadlines = self.clock
  }

  @Test func `The timeline has a line for each event, with the time since the first one`() async throws {
    self.timeline.follow(self.client)
    let store = self.client.store(for: self.script.query(path: ["numbers", 1]))
    self.clock.advance(by: .milliseconds(1500))
    try await store.fetch()
    let lines = try #require(self.timeline.takeText()).split(separator: "\n").map(String.init)
    expect(lines.count, equals: 3)
    #expect(lines[0].hasSuffix("      +0.0 ms  ScriptedQuery<Int, Error> at [\"numbers\", 1]: store added"))
    #expect(lines[1].hasPrefix("    +1500.0 ms  ") && lines[1].contains("began, started by a call"))
    #expect(lines[2].hasPrefix("    +1500.0 ms  ") && lines[2].contains("succeeded"))
  }

  @Test func `Without a client or an event there is no timeline`() {
    expect(self.timeline.takeText(), equals: nil)
    self.timeline.follow(self.client)
    expect(self.timeline.takeText(), equals: nil)
  }

  @Test func `Of many events the newest are kept, and the others are counted`() async throws {
    self.timeline.follow(self.client)
    let store = self.client.store(for: self.script.query(path: ["numbers"]))
    for _ in 0..<600 { try await store.fetch() }
    let text = try #require(self.timeline.takeText())
    #expect(text.hasPrefix("(177 earlier events are not kept)\n"))
    expect(text.split(separator: "\n").count, equals: 1025)
  }

  @Test func `A failure is noted, and the issue stays one`() async throws {
    let test = try #require(Test.current)
    let noted = Gate()
    await withKnownIssue {
      try await FreshClient().provideScope(for: test, testCase: Test.Case.current) {
        let client = try #require(CurrentClient.client { OperationClient() })
        #expect(client === CurrentClient.client { OperationClient() })
        noted.open()
        throw ScriptEnded()
      }
    }
    #expect(noted.isOpen)
  }
}

private struct ScriptEnded: Error {}
