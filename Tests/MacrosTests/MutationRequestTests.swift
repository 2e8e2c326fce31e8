#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import TestFixtures
  import Testing

  private struct Refused: Error {}

  @MutationRequest
  private func ping() async {}

  @MutationRequest
  private func rename(post id: Int, with arguments: String) async throws -> String {
    if arguments.isEmpty { throw Refused() }
    return "\(id) \(arguments)"
  }

  @MutationRequest
  private func touch(post id: Int) throws(Refused) -> Int { id }

  @MutationRequest
  private func withRunParameters(
    arguments: Int,
    in context: OperationContext,
    continuation: OperationContinuation<Int, Never>
  ) -> Int {
    continuation.yield(arguments - 1)
    return arguments + (context.greeting == "hello" ? 0 : 100)
  }

  @MutationRequest
  private func echo<Value: Sendable>(_ type: Value.Type, arguments: Value) -> Value { arguments }

  @MutationRequest
  private func apply(arguments: (Int) -> Int) -> Int { arguments(2) }

  private actor UndoLog {
    private(set) var entries: [Int] = []

    @MutationRequest
    func add(arguments entry: Int) -> Int {
      self.entries.append(entry)
      return self.entries.count
    }
  }

  @Suite(.bounded) struct MutationRequestTests {
    @Test func `A mutation without arguments is called with none`() async throws {
      await OperationStore.detached(mutation: $ping).mutate()
      #expect(try await OperationStore.detached(mutation: $touch(post: 4)).mutate() == 4)
    }

    @Test func `A call passes the arguments`() async throws {
      let store = OperationStore.detached(mutation: $rename(post: 1))
      #expect(try await store.mutate(with: "one") == "1 one")
      #expect(try await store.mutate(with: "two") == "1 two")
      await #expect(throws: Refused.self) { try await store.mutate(with: "") }
      #expect(store.history.count == 3)
    }

    @Test func `Parameters of the mutation are in the path and arguments of a call are not`() {
      #expect($rename(post: 1).path == $rename(post: 1).path)
      #expect($rename(post: 1).path != $rename(post: 2).path)
      #expect($ping.path.count == 1)
    }

    @Test func `A call passes the context and the continuation`() async {
      let store = OperationStore.detached(mutation: $withRunParameters)
      store.context.greeting = "bye"
      #expect(await store.mutate(with: 3) == 103)
      #expect(store.valueUpdateCount == 2)
    }

    @Test func `A call passes a function`() async {
      #expect(await OperationStore.detached(mutation: $apply).mutate(with: { $0 * 3 }) == 6)
    }

    @Test func `Arguments may be generic`() async {
      #expect(await OperationStore.detached(mutation: $echo(String.self)).mutate(with: "a") == "a")
    }

    @Test func `A function of an actor is a mutation`() async {
      let undoLog = UndoLog()
      let store = OperationStore.detached(mutation: undoLog.$add)
      #expect(await store.mutate(with: 5) == 1)
      #expect(await undoLog.entries == [5])
    }
  }
#endif
