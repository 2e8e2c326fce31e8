import FoundationEssentials
import OperationCore
import OperationEvents
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

/// What explanations tell of categories, conditions and schedulers.
@Suite(.bounded, .warningsAreIssues)
struct SchedulingExplanationTests {
  private let posts = PostFixture()

  @Test func `A run waits for a category that another operation holds`() async throws {
    let category = OperationCategory("disk \(UUID())")
    let (holds, release) = (Gate(), Gate())
    let backup = OperationRunner(
      operation: AnyWork("Backup") { _ in
        holds.open()
        try await release.wait()
      }
      .mutuallyExclusive(category)
    )
    let backingUp = Task.immediate { try await backup.run(isolation: nil) }
    try await holds.wait()
    let store = self.posts.client.store(for: self.posts.freshQuery.mutuallyExclusive(category))
    let fetch = Task.immediate { try await store.fetch() }
    self.posts.clock.advance(by: .seconds(2))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        It is stale, because it has no value.
        It has no subscribers.
        A run is under way: started by a call; it has waited for 2 s for the category \(category), held by \(Self.holder).
        Categories: \(category), held by \(Self.holder), 1 waiting
        """
    )
    release.open()
    try await withTimeLimit("the backup") { try await backingUp.value }
    try await self.posts.script.next().succeed(1)
    try await expect(withTimeLimit("the value") { try await fetch.value }, equals: 1)
    expect(store.explain().sections, equals: [.init(title: "Categories", facts: ["\(category), free"])])
  }

  /// The name of a run that holds a category outside of a scheduler: that of its type.
  private static var holder: String { OperationName.of(AnyWork.self) }

  @Test func `The conditions of an operation`() {
    let store = OperationStore.detached(query: self.posts.query.condition(Check.satisfied))
    expect(store.explain().sections, equals: [.init(title: "Conditions", facts: ["Check"])])
  }

  @Test func `A scheduler, what each operation does, and what it waits for`() async throws {
    let category = OperationCategory("disk \(UUID())")
    let scheduler = OperationScheduler(maximumConcurrentOperations: 2, name: "uploads")
    let (holds, release) = (Gate(), Gate())
    let backup = scheduler.schedule(
      AnyWork("Backup") { _ in
        holds.open()
        try await release.wait()
      }
      .mutuallyExclusive(category)
    )
    try await holds.wait()
    let upload = scheduler.schedule(AnyWork("Upload") { _ in }.mutuallyExclusive(category))
    let index = scheduler.schedule(AnyWork("WriteIndex") { _ in }) { $0.addDependency(upload) }
    // There is a place for it once the upload waits, which gives its place to others meanwhile.
    try await withTimeLimit("the wait") { try await scheduler.schedule(named: "Turn") { _ in }.value }
    let explanation = scheduler.explain()
    expect(
      explanation.description,
      equals: """
        uploads: 3 operations, at most 2 at a time
        Backup runs
        Upload waits for categories: \(category), held by Backup
        WriteIndex waits for dependencies: Upload
        """
    )
    let encoded = String(decoding: try JSONEncoder().encode(explanation), as: UTF8.self)
    #expect(encoded.contains("\"phase\":\"waits for categories\"") && encoded.contains("\"name\":\"uploads\""))
    scheduler.suspend()
    #expect(scheduler.explain().description.hasPrefix("uploads: 3 operations, at most 2 at a time, suspended\n"))
    scheduler.resume()
    release.open()
    for operation in [backup, upload, index] { try await withTimeLimit("the end") { try await operation.value } }
    await scheduler.waitUntilEmpty()
    expect(scheduler.explain().description, equals: "uploads: 0 operations, at most 2 at a time")
  }

  @Test func `The graph of a scheduler has each operation once, and who waits for whom and why`() async throws {
    let category = OperationCategory("disk \(UUID())")
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1, name: "uploads")
    let other = OperationScheduler(name: "others")
    let (holds, release) = (Gate(), Gate())
    let backup = other.schedule(
      AnyWork("Backup") { _ in
        holds.open()
        try await release.wait()
      }
      .mutuallyExclusive(category)
    )
    try await holds.wait()
    let upload = scheduler.schedule(AnyWork("Upload") { _ in }.mutuallyExclusive(category))
    // There is a place for it once the upload waits, which gives its place to others meanwhile.
    try await withTimeLimit("the wait") { try await scheduler.schedule(named: "Turn") { _ in }.value }
    let index = scheduler.schedule(AnyWork("WriteIndex") { _ in }, vital: true) { $0.addDependency(upload) }
    let report = scheduler.schedule(AnyWork("Report") { _ in })
    let graph = scheduler.waitGraph()
    expect(
      graph.description,
      equals: """
        uploads: 3 operations, at most 1 at a time
        Upload waits for categories: Backup (category \(category))
        WriteIndex waits for dependencies: Upload (dependency)
        Report waits for dependencies: WriteIndex (vital)
        Backup holds \(category)
        """
    )
    #expect(graph.nodes.map(\.id) == [1, 2, 3, 4] && graph.edges.count == 3)
    let encoded = String(decoding: try JSONEncoder().encode(graph), as: UTF8.self)
    #expect(encoded.contains("\"reason\":\"dependency\"") && encoded.contains("\"kind\":\"operation\""))
    let small = scheduler.waitGraph(limit: 2)
    #expect(small.nodes.map(\.name) == ["Upload", "WriteIndex"] && small.leftOut == 1)
    release.open()
    for operation in [backup, upload, index, report] {
      try await withTimeLimit("the end") { try await operation.value }
    }
    await scheduler.waitUntilEmpty()
    expect(scheduler.waitGraph().description, equals: "uploads: 0 operations, at most 1 at a time")
  }

  @Test func `What an operation waits for besides operations is a node of its own`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 1, name: "uploads")
    let (begun, release) = (Gate(), Gate())
    let first = scheduler.schedule(
      AnyWork("First") { _ in
        begun.open()
        try await release.wait()
      }
    )
    try await begun.wait()
    let second = scheduler.schedule(AnyWork("Second") { _ in })
    let third = scheduler.schedule(AnyWork("Third") { _ in })
    let place = "a place of uploads, which has 1"
    expect(
      scheduler.waitGraph().description,
      equals: """
        uploads: 3 operations, at most 1 at a time
        First runs
        Second waits for a place: \(place)
        Third waits for a place: \(place)
        """
    )
    let graph = scheduler.waitGraph()
    let node = try #require(graph.nodes.first { $0.kind == .resource })
    #expect(node.name == place && graph.edges.contains { $0.from == node.id && $0.to == 1 && $0.reason == "place" })
    scheduler.suspend()
    #expect(scheduler.waitGraph().description.contains("\nSecond is suspended: waits for the resumption of uploads\n"))
    scheduler.resume()
    release.open()
    for operation in [first, second, third] { try await withTimeLimit("the end") { try await operation.value } }
  }
}
