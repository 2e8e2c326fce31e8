#if SwiftOperationConfiguration
  import Configuration
  import Foundation
  import OperationConfiguration
  import OperationCore
  import OperationLimits
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  /// Settings in a real file, which changes while operations run.
  @Suite(.bounded, .warningsAreIssues) struct SettingsFileTests {
    private func withFile(_ body: (URL) async throws -> Void) async throws {
      let file = URL.temporaryDirectory.appending(path: "settings-\(UUID()).json")
      defer { try? FileManager.default.removeItem(at: file) }
      try await body(file)
    }

    private func write(_ text: String, to file: URL) throws {
      try Data(text.utf8).write(to: file, options: .atomic)
    }

    @Test func `A file changes, and the limit changes while runs are under way and wait`() async throws {
      try await self.withFile { file in
        try self.write(#"{ "posts": { "permits": 1, "queue": 5 } }"#, to: file)
        let provider = try await FileReader(file)
        let log = NoticeLog()
        var context = OperationContext()
        context.operationNoticeObservers = [log]
        let settings = OperationSettings(ConfigReader(provider: provider).scoped(to: "posts"), context: context)
        let (limit, script) = (ConcurrencyLimit(9, name: "posts"), OperationScript<Int, any Error>())
        let (applied, continuation) = AsyncStream<Int>.makeStream()
        settings.bind(.integer("permits"), .integer("queue")) { [context] values in
          limit.update(permits: values.integer("permits"), queue: values.integer("queue"), in: context)
          continuation.yield(limit.permits)
        }
        let running = Task { try await settings.run() }
        let operation = script.operation().limited(by: limit)
        let tasks = (0..<3).map { _ in Task.immediate { try await operation.runWithoutSetup() } }
        #expect(script.runCount == 1 && limit.waitingCount == 2)

        try self.write(#"{ "posts": { "permits": 3, "queue": 5 } }"#, to: file)
        try await provider.read()
        try await withTimeLimit("the new number of permits") { _ = await applied.first { $0 == 3 } }
        #expect(script.runCount == 3 && limit.waitingCount == 0)
        for _ in tasks { try await script.next().succeed(1) }
        for task in tasks { try await expect(task.value, equals: 1) }
        #expect(log.descriptions.contains { $0.contains("limit.value=3.0 limit.value.previous=1.0") })
        running.cancel()
        _ = await running.result
      }
    }

    @Test func `A file that cannot be read changes nothing, and the next version counts`() async throws {
      try await self.withFile { file in
        try self.write(#"{ "permits": 2 }"#, to: file)
        let provider = try await FileReader(file)
        let (limit, settings) = (ConcurrencyLimit(1), OperationSettings(ConfigReader(provider: provider)))
        settings.bind(.integer("permits")) { limit.update(permits: $0.integer("permits")) }
        for text in ["{ \"permits\": ", "", "[2]"] {
          try self.write(text, to: file)
          await #expect(throws: (any Error).self) { try await provider.read() }
          settings.apply()
          expect(limit.permits, equals: 2)
        }
        try FileManager.default.removeItem(at: file)
        await #expect(throws: (any Error).self) { try await provider.read() }
        settings.apply()
        expect(limit.permits, equals: 2)
        try self.write(#"{ "permits": 7 }"#, to: file)
        try await provider.read()
        settings.apply()
        expect(limit.permits, equals: 7)
      }
    }
  }

  /// A provider of a file that is read when the test says so, and not when a poll has found another version of it.
  private final class FileReader: ConfigProvider {
    private struct State: Sendable {
      var file: FileProvider<JSONSnapshot>
      var lastNumber = 0
      var watchers: [Int: AsyncStream<any ConfigSnapshot>.Continuation] = [:]
    }

    let providerName = "FileReader"
    private let url: URL
    private let state: Mutex<State>

    init(_ url: URL) async throws {
      self.url = url
      self.state = Mutex(State(file: try await Self.read(url)))
    }

    private static func read(_ url: URL) async throws -> FileProvider<JSONSnapshot> {
      let path = ConfigValue(.string(url.path(percentEncoded: false)), isSecret: false)
      return try await FileProvider(config: ConfigReader(provider: InMemoryProvider(values: ["filePath": path])))
    }

    /// Reads the file, and tells those who watch it. Throws if the file is malformed or missing.
    func read() async throws {
      let file = try await Self.read(self.url)
      let watchers = self.state.withLock { state in
        state.file = file
        return state.watchers.values
      }
      for watcher in watchers { watcher.yield(file.snapshot()) }
    }

    func snapshot() -> any ConfigSnapshot { self.state.withLock { $0.file }.snapshot() }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      try self.state.withLock { $0.file }.value(forKey: key, type: type)
    }

    nonisolated(nonsending) func fetchValue(
      forKey key: AbsoluteConfigKey,
      type: ConfigType
    ) async throws -> LookupResult {
      try self.value(forKey: key, type: type)
    }

    nonisolated(nonsending) func watchValue<Return: ~Copyable>(
      forKey key: AbsoluteConfigKey,
      type: ConfigType,
      updatesHandler:
        nonisolated(nonsending) (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
        Return
    ) async throws -> Return {
      try await self.watchValueFromValue(forKey: key, type: type, updatesHandler: updatesHandler)
    }

    nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
      updatesHandler:
        nonisolated(nonsending) (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
      let (stream, continuation) = AsyncStream<any ConfigSnapshot>.makeStream(bufferingPolicy: .bufferingNewest(1))
      let number = self.state.withLock { state in
        state.lastNumber += 1
        state.watchers[state.lastNumber] = continuation
        return state.lastNumber
      }
      defer { _ = self.state.withLock { $0.watchers.removeValue(forKey: number) } }
      continuation.yield(self.snapshot())
      return try await updatesHandler(ConfigUpdatesAsyncSequence(stream))
    }
  }
#endif
