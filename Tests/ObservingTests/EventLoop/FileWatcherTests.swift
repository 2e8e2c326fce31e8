#if os(Linux)
  import Foundation
  import OperationCore
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationEventLoop

  /// A watcher, and files that change.
  @Suite(.bounded)
  struct FileWatcherTests {
    private typealias Changes = Receiver<FileWatcher.Change>

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
      expect(Glibc.write(file, text, text.utf8.count), equals: text.utf8.count)
      close(file)
    }

    private func expectNothingLeft() {
      #expect(!self.watcher.isOpen)
      #expect(!self.loop.isRunning)
      try? FileManager.default.removeItem(atPath: self.folder)
    }

    @Test func `A change is reported to all watchers of the file, and to no others`() async throws {
      try self.write("a", to: "one")
      try self.write("a", to: "two")
      let (first, second, other) = (Changes(), Changes(), Changes())
      let watches = [
        self.watcher.watch(self.path("one"), onChange: first.receive),
        self.watcher.watch(self.path("one"), onChange: second.receive),
        self.watcher.watch(self.path("two"), onChange: other.receive),
      ]
      try self.write("b", to: "one")
      try await expect(first.next(), equals: .modified)
      try await expect(second.next(), equals: .modified)
      expect(other.count, equals: 0)
      watches[0]?.cancel()
      try self.write("c", to: "one")
      try await expect(second.next(), equals: .modified)
      expect(first.count, equals: 1)
      for watch in watches { watch?.cancel() }
      self.expectNothingLeft()
    }

    @Test func `A file that replaces a watched one is watched`() async throws {
      try self.write("a", to: "file")
      let changes = Changes()
      let watch = self.watcher.watch(self.path("file"), onChange: changes.receive)
      for _ in 0..<3 {
        try self.write("b", to: "new")
        expect(rename(self.path("new"), self.path("file")), equals: 0)
        // The kernel reports the change and the end of the previous file one after the other.
        try await expect(changes.next(), equals: .modified)
        try await self.loop.settle()
        let count = changes.count
        try self.write("c", to: "file")
        while changes.count == count { try await expect(changes.next(), equals: .modified) }
      }
      watch?.cancel()
      self.expectNothingLeft()
    }

    @Test func `A file that is removed is reported once`() async throws {
      try self.write("a", to: "file")
      let changes = Changes()
      let watch = self.watcher.watch(self.path("file"), onChange: changes.receive)
      expect(unlink(self.path("file")), equals: 0)
      try await expect(changes.next(), equals: .gone)
      try await self.loop.settle()
      expect(changes.count, equals: 1)
      watch?.cancel()
      self.expectNothingLeft()
    }

    @Test func `Two names of one file have a watch each`() async throws {
      try self.write("a", to: "file")
      expect(symlink(self.path("file"), self.path("alias")), equals: 0)
      let (first, second) = (Changes(), Changes())
      let watches = [
        self.watcher.watch(self.path("file"), onChange: first.receive),
        self.watcher.watch(self.path("alias"), onChange: second.receive),
      ]
      watches[0]?.cancel()
      try self.write("b", to: "file")
      try await expect(second.next(), equals: .modified)
      expect(first.count, equals: 0)
      watches[1]?.cancel()
      self.expectNothingLeft()
    }

    @Test func `A missing file cannot be watched, and nothing stays open`() {
      expect(self.watcher.watch(self.path("nothing")) { _ in }, equals: nil)
      self.expectNothingLeft()
    }

    @Test(arguments: UInt64(1)...5)
    func `Random bytes are parsed without harm`(_ seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<2_000 {
        let count = Int.random(in: 0..<80, using: &generator)
        var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // Half of them have a length that may fit.
        if bytes.count > 15, Bool.random(using: &generator) {
          bytes.replaceSubrange(12..<16, with: [UInt8.random(in: 0..<20, using: &generator), 0, 0, 0])
        }
        let events = bytes.withUnsafeBytes { NotifyEvent.all(in: $0) }
        #expect(events.count <= bytes.count / 16)
      }
    }
  }
#endif
