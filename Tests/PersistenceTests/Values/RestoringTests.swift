import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RestoringTests {
  @Test func `A later store begins with the value, its date and its counts`() async throws {
    let program = Program()
    let script = Script(default: .value("first"))
    let store = program.store(script)
    try await store.fetch()
    script.enqueue(.error(Refused()), .value("second"))
    _ = try? await store.fetch()
    program.clock.advance(by: .seconds(5))
    try await store.fetch()
    #expect(await program.client.persistence.flush())

    program.clock.advance(by: .seconds(10))
    let restored = program.restarted().store()
    expect(restored.currentValue, equals: "second")
    expect(restored.valueUpdateCount, equals: 2)
    expect(restored.errorUpdateCount, equals: 1)
    expect(restored.errorLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 0))
    expect(restored.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 5))
    #expect(restored.error == nil)
    expect(restored.initialValue, equals: nil)
    #expect(!restored.isStale)
    program.clock.advance(by: .seconds(50))
    #expect(restored.isStale)
  }

  @Test func `The first subscriber receives the stored value and no earlier state`() async throws {
    let program = Program()
    program.store().currentValue = "stored"
    await program.client.persistence.flush()

    let recorder = TextRecorder()
    let script = Script()
    let subscription = program.restarted().store(script).subscribe(with: recorder.handler)
    expect(recorder.digests, equals: [.state("stored")])
    expect(script.runCount, equals: 0)
    subscription.cancel()
  }

  @Test func `A stale stored value is shown, and fetched again`() async throws {
    let program = Program()
    program.store().currentValue = "stored"
    await program.client.persistence.flush()
    program.clock.advance(by: .seconds(61))

    let recorder = TextRecorder()
    let subscription = program.restarted().store(Script(default: .value("new"))).subscribe(with: recorder.handler)
    _ = try await recorder.firstState { $0.currentValue == "new" && !$0.isLoading }
    expect(recorder.digests.first, equals: .state("stored"))
    subscription.cancel()
  }

  @Test func `An invalidated value is still invalidated after a restart`() async throws {
    let program = Program()
    let store = program.store()
    store.currentValue = "stored"
    await program.client.persistence.flush()
    program.client.invalidate(matching: ["text"])
    await program.client.persistence.flush()

    let restarted = program.restarted()
    let restored = restarted.store(Script(default: .value("new")))
    expect(restored.currentValue, equals: "stored")
    #expect(restored.isStale)
    try await restored.fetch()
    #expect(!restored.isStale)
    await restarted.client.persistence.flush()
    #expect(!program.restarted().store().isStale)
  }

  @Test func `A store that was reset is not restored`() async throws {
    let program = Program()
    let store = program.store()
    store.currentValue = "stored"
    await program.client.persistence.flush()
    try await expect(program.storage.keys().count, equals: 1)
    store.resetState()
    await program.client.persistence.flush()
    #expect(try await program.storage.keys().isEmpty)
    expect(program.restarted().store().currentValue, equals: nil)
  }

  @Test func `A value that another operation stored is not used`() async throws {
    let program = Program()
    let first = program.client.store(for: Script().query(path: ["a", 1]).persisted(as: "text"))
    first.currentValue = "of the number"
    await program.client.persistence.flush()
    let client = program.restarted().client
    expect(client.store(for: Script().query(path: ["a", "1"]).persisted(as: "text")).currentValue, equals: nil)
    expect(client.store(for: Script().query(path: ["a", UInt8(1)]).persisted(as: "text")).currentValue, equals: nil)
    expect(client.store(for: Script().query(path: ["a"]).persisted(as: "1/text")).currentValue, equals: nil)
    expect(
      client.store(for: Script().query(path: ["a", 1]).persisted(as: "text")).currentValue,
      equals: "of the number"
    )
  }

  @Test func `A value of nil is distinguished from no value`() async throws {
    let program = Program()
    let query = OperationScript<String?, any Error>().query(path: ["optional"]).persisted(as: "optional")
    program.client.store(for: query).currentValue = .some(nil)
    await program.client.persistence.flush()
    let restored = program.restarted().client.store(for: query)
    expect(restored.currentValue, equals: .some(nil))
    expect(restored.valueUpdateCount, equals: 1)
    restored.currentValue = nil
    await restored.context.operationClient?.persistence.flush()
    let again = program.restarted().client.store(for: query)
    expect(again.currentValue, equals: nil)
    expect(again.valueUpdateCount, equals: 2)
  }

  @Test func `A default value may be inside or outside`() async throws {
    let program = Program()
    let inside = Script().query(path: ["inside"]).persisted(as: "text").defaultValue("default")
    let outside = Script().query(path: ["outside"]).defaultValue("default").persisted(as: "text")
    program.client.store(for: inside).currentValue = "A"
    program.client.store(for: outside).currentValue = "B"
    await program.client.persistence.flush()
    let client = program.restarted().client
    expect(client.store(for: inside).currentValue, equals: "A")
    expect(client.store(for: outside).currentValue, equals: "B")
  }

  @Test func `Numbers that JSON cannot write are stored`() async throws {
    let program = Program()
    let query = OperationScript<[Double], any Error>().query(path: ["numbers"]).persisted(as: "numbers")
    let numbers: [Double] = [.infinity, -.infinity, .nan, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -0.0]
    program.client.store(for: query).currentValue = numbers
    await program.client.persistence.flush()
    let restored = try #require(program.restarted().client.store(for: query).currentValue)
    expect(restored.map(\.bitPattern.description), equals: numbers.map(\.bitPattern.description))
  }

  @Test func `A detached store takes the storage that it is given`() async throws {
    let storage = InMemoryStorage()
    let clock = ManualClock()
    let query = Script().query(path: ["detached"]).persisted(as: "text", in: storage).manualTime(clock)
    do {
      let store = OperationStore.detached(query: query)
      store.currentValue = "stored"
    }
    expect(OperationStore.detached(query: query).currentValue, equals: "stored")
    clock.advance(by: .milliseconds(100))
  }
}
