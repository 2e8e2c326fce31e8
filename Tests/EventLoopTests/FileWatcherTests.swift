#if os(Linux)
  import Foundation
  import OperationCore
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationEventLoop

  /// Files that change under the eyes of a watcher.
  @Suite(.timeLimit(.minutes(10)))
  struct FileWatcherTests {
    private let loop = EventLoop()
    private let watcher: FileWatcher
    private let folder: String

    init() throws {
      self.watcher = FileWatcher(loop: self.loop)
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("watched-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      self.folder = folder.path
    }

    private func path(_ name: String) -> String { self.folder + "/" + name }

    private func write(_ text: String, to name: String) throws {
      let file = open(self.path(name), O_WRONLY | O_CREAT | O_APPEND, 0o600)
      try #require(file >= 0)
      #expect(Glibc.write(file, text, text.utf8.count) == text.utf8.count)
      close(file)
    }

    private func end() {
      #expect(!self.watcher.isOpen)
      #expect(!self.loop.isRunning)
      try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// Waits until the loop has called for all that has happened by now.
    private func turn() async {
      for _ in 0..<2 {
        let hasTurned = Gate()
        let timer = self.loop.schedule(after: .zero) { hasTurned.open() }
        await hasTurned.waitIgnoringCancellation()
        timer.cancel()
      }
    }

    @Test func `A change is reported to all watchers of the file, and to no others`() async throws {
      try self.write("a", to: "one")
      try self.write("a", to: "two")
      let (first, second, other) = (Changes(), Changes(), Changes())
      let watches = [
        self.watcher.watch(self.path("one"), onChange: first.note),
        self.watcher.watch(self.path("one"), onChange: second.note),
        self.watcher.watch(self.path("two"), onChange: other.note),
      ]
      try self.write("b", to: "one")
      #expect(try await first.next() == .modified)
      #expect(try await second.next() == .modified)
      #expect(other.count == 0)
      watches[0]?.cancel()
      try self.write("c", to: "one")
      #expect(try await second.next() == .modified)
      #expect(first.count == 1)
      for watch in watches { watch?.cancel() }
      self.end()
    }

    @Test func `A file that takes the place of another is watched in its stead`() async throws {
      try self.write("a", to: "file")
      let changes = Changes()
      let watch = self.watcher.watch(self.path("file"), onChange: changes.note)
      for _ in 0..<3 {
        try self.write("b", to: "new")
        #expect(rename(self.path("new"), self.path("file")) == 0)
        // The kernel tells of the change and of the end of the previous file one after the other.
        #expect(try await changes.next() == .modified)
        await self.turn()
        let count = changes.count
        try self.write("c", to: "file")
        while changes.count == count { #expect(try await changes.next() == .modified) }
      }
      watch?.cancel()
      self.end()
    }

    @Test func `A file that is removed is reported once`() async throws {
      try self.write("a", to: "file")
      let changes = Changes()
      let watch = self.watcher.watch(self.path("file"), onChange: changes.note)
      #expect(unlink(self.path("file")) == 0)
      #expect(try await changes.next() == .gone)
      await self.turn()
      #expect(changes.count == 1)
      watch?.cancel()
      self.end()
    }

    @Test func `Two names of one file have a watch each`() async throws {
      try self.write("a", to: "file")
      #expect(symlink(self.path("file"), self.path("alias")) == 0)
      let (first, second) = (Changes(), Changes())
      let watches = [
        self.watcher.watch(self.path("file"), onChange: first.note),
        self.watcher.watch(self.path("alias"), onChange: second.note),
      ]
      watches[0]?.cancel()
      try self.write("b", to: "file")
      #expect(try await second.next() == .modified)
      #expect(first.count == 0)
      watches[1]?.cancel()
      self.end()
    }

    @Test func `A missing file cannot be watched, and leaves nothing`() {
      #expect(self.watcher.watch(self.path("nothing")) { _ in } == nil)
      self.end()
    }

    @Test(arguments: UInt64(1)...5)
    func `No bytes are too strange`(_ seed: UInt64) {
      var state = seed
      func random() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
      }
      for _ in 0..<2_000 {
        var bytes = (0..<Int(random() % 80)).map { _ in UInt8(truncatingIfNeeded: random()) }
        // Lengths that fit, now and then.
        if bytes.count > 15, random() % 2 == 0 {
          bytes.replaceSubrange(12..<16, with: [UInt8(random() % 20), 0, 0, 0])
        }
        let events = bytes.withUnsafeBytes { NotifyEvent.all(in: $0) }
        #expect(events.count <= bytes.count / 16)
      }
    }
  }

  /// Hears changes, one after the other.
  private final class Changes: Sendable {
    private let log = Log<FileWatcher.Change>()
    private let stream: AsyncStream<FileWatcher.Change>
    private let continuation: AsyncStream<FileWatcher.Change>.Continuation

    init() {
      (self.stream, self.continuation) = AsyncStream.makeStream()
    }

    var count: Int { self.log.all.count }

    var note: @Sendable (FileWatcher.Change) -> Void {
      { change in
        self.log.append(change)
        self.continuation.yield(change)
      }
    }

    func next() async throws -> FileWatcher.Change? {
      try await withTimeLimit("a change") { [stream = self.stream] in await stream.first { _ in true } }
    }
  }
#endif
