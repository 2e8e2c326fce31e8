#if SwiftOperationServiceLifecycle
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationServiceLifecycle
  import OperationTesting
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import Synchronization
  import TestFixtures
  import Testing

  /// Records how many mutations had ended at each flush.
  private final class Writing: OperationClientFlushable {
    let hasFlushed = Gate()
    private let state = Mutex<(ended: Int, flushes: [Int])>((0, []))

    var flushes: [Int] { self.state.withLock { $0.flushes } }

    func noteEnd() { self.state.withLock { $0.ended += 1 } }

    func flush() async -> Bool {
      self.state.withLock { $0.flushes.append($0.ended) }
      self.hasFlushed.open()
      return true
    }
  }

  @Suite(.bounded, .warningsAreIssues) struct FlushingTests {
    private let program = Program()
    private let script = Script()
    private let writing = Writing()

    init() {
      self.program.client.attach(self.writing)
    }

    @Test func `A client is flushed when its mutations have ended`() async throws {
      let (program, service, writing) = (self.program, self.program.service, self.writing)
      let change = program.change(self.script)
      let mutate = Task {
        defer { writing.noteEnd() }
        return try await change.mutate(with: 7)
      }
      let mutation = try await self.script.next()
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        #expect(writing.flushes.isEmpty)
        mutation.succeed(8)
        try await expect(mutate.value, equals: 8)
        try await run.value
      }
      #expect(!writing.flushes.isEmpty && writing.flushes.last == 1)
    }

    @Test func `A client is flushed before and after the end of a run that ignores its cancellation`() async throws {
      let (program, service, writing) = (self.program, self.program.service, self.writing)
      let gate = Gate()
      let change = program.client.store(for: StubbornChange(gate: gate))
      let mutate = Task { try await change.mutate(with: 7) }
      try await gate.arrivals(count: 1)
      try await testGracefulShutdown { trigger in
        let run = Task { try await service.run() }
        trigger.triggerGracefulShutdown()
        try await program.clock.sleepers(count: 1)
        program.clock.advance(by: .seconds(10))
        try await writing.hasFlushed.wait()
        expect(writing.flushes.count, equals: 1)
        gate.open()
        _ = try await mutate.value
        try await run.value
      }
      expect(writing.flushes.count, equals: 2)
    }

    @Test func `A service that is cancelled flushes nothing`() async throws {
      let service = self.program.service
      let run = Task { try await service.run() }
      run.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      #expect(self.writing.flushes.isEmpty)
    }

    @Test func `Persisted values are stored at a shutdown without their delay`() async throws {
      let (program, service, storage) = (self.program, self.program.service, InMemoryStorage())
      program.client.defaultContext.operationStorage = storage
      self.script.enqueue(.value(4))
      let store = program.client.store(for: self.script.query(path: ["number"]).persisted(as: "number", version: 1))
      try await expect(store.fetch(), equals: 4)
      #expect(try await storage.entries(withPrefix: "").isEmpty)
      try await testGracefulShutdown { trigger in
        trigger.triggerGracefulShutdown()
        try await service.run()
      }
      try await expect(storage.entries(withPrefix: "").count, equals: 1)
    }
  }
#endif
