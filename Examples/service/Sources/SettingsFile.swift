import Configuration
import Foundation
import Operation
import ServiceLifecycle

/// The limit of the front in a file. Who changes the file changes the limit, and nothing restarts.
struct SettingsFile: Service {
  private let file: URL
  private let provider: ReloadingFileProvider<JSONSnapshot>
  private let settings: OperationSettings
  /// How often values were applied.
  let applied = Counter()

  /// Writes the file, and sets the limit by it.
  init(of limit: ConcurrencyLimit) async throws {
    self.file = .temporaryDirectory.appending(path: "service-\(ProcessInfo.processInfo.processIdentifier).json")
    try Self.write(permits: 4, to: self.file)
    let path = ConfigValue(.string(self.file.path(percentEncoded: false)), isSecret: false)
    let place = ConfigReader(provider: InMemoryProvider(values: ["filePath": path, "pollIntervalSeconds": 1]))
    self.provider = try await ReloadingFileProvider(config: place)
    self.settings = OperationSettings(ConfigReader(provider: self.provider).scoped(to: "articles"))
    self.settings.bind(.integer("permits"), .integer("queue")) { [applied] values in
      limit.update(permits: values.integer("permits"), queue: values.integer("queue"))
      applied.increment()
    }
  }

  /// Changes the number of permits in the file.
  func write(permits: Int) throws {
    try Self.write(permits: permits, to: self.file)
  }

  private static func write(permits: Int, to file: URL) throws {
    try Data(#"{ "articles": { "permits": \#(permits), "queue": 4 } }"#.utf8).write(to: file, options: .atomic)
  }

  func run() async throws {
    defer { try? FileManager.default.removeItem(at: self.file) }
    try await withThrowingTaskGroup { group in
      group.addTask { try await self.provider.run() }
      group.addTask {
        do {
          try await cancelWhenGracefulShutdown { try await self.settings.run() }
        } catch is CancellationError {}
      }
      try await group.waitForAll()
    }
  }
}
