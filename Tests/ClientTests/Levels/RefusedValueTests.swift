import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Values of levels that cannot be used.
@Suite(.bounded, .warningsAreIssues) struct RefusedValueTests {
  private let post = KeptPost()

  private func expectDropped(_ query: KeptPost.Kept, at path: String = "[\"posts\", 1]") async throws {
    let recorder = WarningRecorder()
    let store = recorder.recording { self.post.client.store(for: query) }
    expect(recorder.warnings.map(\.code), equals: [.levelFailed])
    #expect(recorder.warnings.first?.message.contains("at \(path) with the name \"post\" in the level shelf") ?? false)
    expect(store.currentValue, equals: nil)
    expect(self.post.shelf.log.all, equals: ["put nothing"])
    expect(self.post.shelf.text(at: query.path), equals: nil)
    try await self.post.fetch("new", in: store)
    expect(self.post.shelf.text(at: query.path), equals: "new")
  }

  @Test func `A value of another version is dropped, with a report`() async throws {
    self.post.fill("kept", version: 1)
    try await self.expectDropped(self.post.query(version: 2))
    expect(self.post.shelf.log.all, equals: ["put nothing", "put new"])
  }

  @Test func `A value that cannot be decoded is dropped, with a report`() async throws {
    self.post.fill("damaged")
    try await self.expectDropped(self.post.query())
  }

  @Test func `A value that is older than allowed is dropped, with a report`() async throws {
    self.post.fill("kept", secondsAgo: 31)
    try await self.expectDropped(self.post.query(maximumAge: .seconds(30)))
  }

  @Test func `A value as old as allowed is used`() async throws {
    self.post.fill("kept", secondsAgo: 30)
    let store = self.post.client.store(for: self.post.query(maximumAge: .seconds(30)))
    expect(store.currentValue, equals: "kept")
    #expect(!store.isStale)
  }

  @Test func `The report leaves secrets of the path out`() async throws {
    let path: OperationPath = ["posts", Token(text: "secret")]
    self.post.shelf.fill("damaged", at: path, date: self.post.clock.now())
    try await self.expectDropped(self.post.query(at: path), at: "[\"posts\", Token]")
  }

  @Test func `A level that fails is reported, and the store goes on without a value`() async throws {
    let gate = Gate()
    let post = KeptPost(Shelf(gate: gate))
    post.fill("kept")
    let level = FailingLevel()
    let query = post.script.query(path: KeptPost.path).kept(in: level, as: "post") {
      Array($0.utf8)
    } decode: {
      String(decoding: $0, as: UTF8.self)
    }
    let store = await expectWarning(.levelFailed) {
      let store = post.client.store(for: query)
      await store.restored()
      return store
    }
    expect(store.currentValue, equals: nil)
    try await post.fetch("new", in: store)
    expect(store.currentValue, equals: "new")
    let isFlushed = await expectWarning(.levelFailed) { await post.client.flush() }
    #expect(!isFlushed)
  }
}

private struct Token: Hashable, Sendable, OperationSecret {
  let text: String
}

/// A level that does not work.
private final class FailingLevel: ValueLevel {
  let name = "failing"
  let reach = ValueReach.process

  func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance { .unknown }
  func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?) {}
  func invalidate(_ invalidations: [Invalidation]) {}

  nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws {}

  nonisolated(nonsending) func lookUp(_ key: LevelKey, _ demand: ValueDemand) async throws -> LevelAnswer {
    throw Refused()
  }

  nonisolated(nonsending) func flush() async throws { throw Refused() }
}
