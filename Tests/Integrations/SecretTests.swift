#if SwiftOperationLogging && SwiftOperationMetrics && SwiftOperationTracing && SwiftOperationDevtools
  import Foundation
  import InMemoryLogging
  import InMemoryTracing
  import Logging
  import MetricsTestKit
  import Operation
  import OperationScheduling
  import OperationTesting
  import TestFixtures
  import Testing
  import Tracing

  @testable import OperationDevtools

  /// A thousand secrets, in every place that a text can come from, and everything that leaves the process: the page, recordings,
  /// events, explanations, snapshots, warnings, logs with values, spans and metrics.
  @Suite(.bounded) struct SecretTests {
    private static let count = 1_000

    /// What leaves the process, with where it goes.
    private struct Text {
      let origin: String
      let text: String
    }

    private let backend = TestMetrics()
    private let handler = InMemoryLogHandler()
    private let tracer = InMemoryTracer()
    private let warnings = WarningRecorder()

    private func makeClient() -> OperationClient {
      let handler = self.handler
      var context = OperationContext()
      context.operationBackoffFunction = .noBackoff
      context.operationLogger = Logger(label: "test") { _ in handler }
      context.operationLogsValues = true
      let client = OperationClient(
        defaultContext: context,
        storeCreator: OperationClient.PlainStoreCreator()
      )
      client.measureOperations(by: OperationMeters(factory: self.backend))
      client.logNotices()
      client.traceOperations(by: self.tracer)
      return client
    }

    @Test func `No secret of a thousand leaves the process`() async throws {
      let client = self.makeClient()
      let events = client.events(keeping: 100_000)
      let devtools = Devtools(client, allowsActions: true)
      let feed = try #require(devtools.liveFeed)
      await feed.begin()
      let connection = await feed.connect(limit: 1 << 30)
      let logging = OperationWarning.logging(to: Logger(label: "warnings") { _ in self.handler }, logsValues: true)
      await self.warnings.recording {
        for number in 0..<Self.count {
          let place = SecretPlace.all[number % SecretPlace.all.count]
          await place.use(client, MarkedSecret(number: number))
        }
      }
      for warning in self.warnings.warnings { logging(warning) }

      var texts: [Text] = []
      texts += events.takeAll().flatMap { event in
        [Text(origin: "event", text: "\(event)"), Text(origin: "JSON of an event", text: Self.json(event))]
      }
      for store in client.stores() {
        texts.append(Text(origin: "explanation", text: "\(store.explain())"))
        texts.append(Text(origin: "JSON of an explanation", text: Self.json(store.explain())))
        texts.append(Text(origin: "state", text: "\(store.state)"))
      }
      texts.append(Text(origin: "snapshot", text: "\(client.snapshot()) \(Self.json(client.snapshot()))"))
      texts.append(Text(origin: "wait graph", text: "\(client.waitGraph())"))
      texts += self.warnings.warnings.map { Text(origin: "warning", text: "\($0)") }
      texts += self.handler.entries.map { Text(origin: "log", text: "\($0.message) \($0.metadata)") }
      texts += self.spanTexts
      texts += self.metricTexts
      texts += try await self.pageTexts(feed, connection)
      connection.end()
      await feed.end()

      // Each place was used, and shows something.
      let origins = [
        "event", "explanation", "warning", "log", "span", "metric", "page", "value", "recording", "message",
      ]
      for origin in origins {
        #expect(texts.contains { $0.origin == origin && !$0.text.isEmpty }, "nothing has left by \(origin)")
      }
      #expect(texts.contains { $0.text.contains("MarkedSecret") })
      let leaks = texts.filter { $0.text.contains(MarkedSecret.mark) }
      for (origin, group) in Dictionary(grouping: leaks, by: \.origin).sorted(by: { $0.key < $1.key }) {
        let examples = Dictionary(grouping: group) { Self.place(of: $0.text) }
          .map { "\($0.key) (\($0.value.count)): \(Self.excerpt(of: $0.value[0].text))" }
        Issue.record("\(group.count) leaks by \(origin): \(examples.sorted().joined(separator: "\n"))")
      }
    }

    // MARK: - What leaves

    private static func json(_ value: some Encodable) -> String {
      (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private var spanTexts: [Text] {
      self.tracer.finishedSpans.flatMap { span in
        var texts = ["\(span.operationName)", "\(span.status as Any)", "\(span.errors)"]
        // swift-format-ignore: ReplaceForEachWithForLoop
        // Attributes are no sequence.
        func add(_ attributes: SpanAttributes) { attributes.forEach { texts.append("\($0) \($1)") } }
        add(span.attributes)
        for event in span.events {
          texts.append(event.name)
          add(event.attributes)
        }
        return texts.map { Text(origin: "span", text: $0) }
      }
    }

    private var metricTexts: [Text] {
      let labels = ["runs", "attempts", "retries", "failures", "cancellations", "joins", "notices"]
      return labels.flatMap { label in
        self.backend.counters(label: "operation.\(label)")
          .map { Text(origin: "metric", text: "\($0.label) \($0.dimensions)") }
      }
    }

    private func pageTexts(_ feed: LiveFeed, _ connection: FeedConnection) async throws -> [Text] {
      var texts: [Text] = []
      await feed.look()
      if let messages = await connection.next() { texts.append(Text(origin: "message", text: messages)) }
      for path in ["/api/stores", "/api/waits", "/api/hello"] {
        texts.append(Text(origin: "page", text: await Self.answer(feed, path)))
      }
      texts.append(Text(origin: "recording", text: await Self.answer(feed, "/api/recording")))
      for id in await feed.knownIDs {
        texts.append(Text(origin: "value", text: await Self.answer(feed, "/api/value", ["store": "\(id)"])))
        texts.append(Text(origin: "page", text: await Self.answer(feed, "/api/explanation", ["store": "\(id)"])))
        let body = #"{"action":"set","store":\#(id),"value":"{}"}"#
        let request = FeedRequest(method: "POST", path: "/api/action", query: [:], body: body)
        texts.append(Text(origin: "action", text: "\(await feed.answer(request))"))
      }
      return texts
    }

    private static func answer(_ feed: LiveFeed, _ path: String, _ query: [String: String] = [:]) async -> String {
      "\(await feed.answer(FeedRequest(method: "GET", path: path, query: query, body: "")))"
    }

    // MARK: - Findings

    /// The place whose secret is in a text.
    private static func place(of text: String) -> String {
      guard let start = text.range(of: MarkedSecret.mark)?.upperBound,
        let number = Int(text[start...].prefix { $0.isNumber })
      else { return "unknown" }
      return SecretPlace.all[number % SecretPlace.all.count].name
    }

    private static func excerpt(of text: String) -> String {
      guard let range = text.range(of: MarkedSecret.mark) else { return "" }
      let start = text.index(range.lowerBound, offsetBy: -90, limitedBy: text.startIndex) ?? text.startIndex
      let end = text.index(range.upperBound, offsetBy: 30, limitedBy: text.endIndex) ?? text.endIndex
      return String(text[start..<end])
    }
  }
#endif
