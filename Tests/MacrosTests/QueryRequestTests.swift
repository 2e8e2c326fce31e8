#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import TestFixtures
  import Testing

  // All forms of functions that become queries. That this compiles is half of the test.

  struct Failed: Error, Equatable {
    var code = 0
  }

  @QueryRequest
  func plainQuery() {}

  @QueryRequest
  private func number() -> Int { 1 }

  @QueryRequest
  func asyncNumber() async -> Int { 2 }

  @QueryRequest
  func throwingNumber(fails: Bool) throws -> Int {
    if fails { throw Failed() }
    return 3
  }

  @QueryRequest
  func typedNumber(code: Int) async throws(Failed) -> Int {
    if code > 0 { throw Failed(code: code) }
    return 4
  }

  @QueryRequest
  func sum(_ first: Int, and second: Int = 10, third _: Int = 0) async -> Int { first + second }

  @QueryRequest
  func described<Item: Hashable & Sendable>(_ item: Item, as type: Item.Type) async throws -> [Item]
  where Item: CustomStringConvertible {
    [item]
  }

  @QueryRequest
  func described(any item: some Hashable & Sendable) -> String { "\(item)" }

  @QueryRequest
  func none<Item: Sendable>() -> Item? { nil }

  @QueryRequest
  func `default`() -> Int { 5 }

  @QueryRequest
  func echo(_ echo: Int, context number: Int = 0) -> Int { echo + number }

  @QueryRequest
  func context(context: OperationContext, of continuation: Int) -> String { "\(context.greeting) \(continuation)" }

  @QueryRequest
  func `the answer`() -> Int { 42 }

  @QueryRequest
  @available(*, deprecated, message: "it is old")
  func oldQuery() -> Int { 6 }

  @MainActor
  @QueryRequest
  func mainActorQuery(id: Int) -> Int { id }

  @QueryRequest
  func withRunParameters(
    id: Int,
    isolation: isolated (any Actor)? = #isolation,
    context: OperationContext,
    continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    continuation.yield("\(id) so far")
    return "\(id) \(context.greeting) \(isolation == nil)"
  }

  @QueryRequest
  func named(context name: String, isolation: Int, in run: OperationContext) -> String {
    "\(name) \(isolation) \(run.greeting)"
  }

  @Suite(.bounded) struct QueryRequestTests {
    @Test func `A function without arguments is a property`() async throws {
      await OperationStore.detached(query: $plainQuery).fetch()
      #expect(await OperationStore.detached(query: $number).fetch() == 1)
      #expect(await OperationStore.detached(query: $asyncNumber).fetch() == 2)
      #expect(await OperationStore.detached(query: $default).fetch() == 5)
      #expect(await OperationStore.detached(query: `$the answer`).fetch() == 42)
    }

    @Test func `Failures keep their types`() async throws {
      #expect(try await OperationStore.detached(query: $throwingNumber(fails: false)).fetch() == 3)
      await #expect(throws: Failed()) { try await OperationStore.detached(query: $throwingNumber(fails: true)).fetch() }
      do throws(Failed) {
        #expect(try await OperationStore.detached(query: $typedNumber(code: 0)).fetch() == 4)
        try await OperationStore.detached(query: $typedNumber(code: 7)).fetch()
        Issue.record("It failed to fail.")
      } catch {
        #expect(error.code == 7)
      }
    }

    @Test func `Labels and defaults are those of the function`() async {
      #expect(await OperationStore.detached(query: $sum(1)).fetch() == 11)
      #expect(await OperationStore.detached(query: $sum(1, and: 2, third: 3)).fetch() == 3)
    }

    @Test func `Generic functions make generic queries`() async throws {
      #expect(try await OperationStore.detached(query: $described(1, as: Int.self)).fetch() == [1])
      #expect(await OperationStore.detached(query: $described(any: "a")).fetch() == "a")
      let none: some QueryRequest<Int?, Never> = $none()
      #expect(await OperationStore.detached(query: none).fetch() == .some(nil))
    }

    @Test func `A function of a global actor runs there`() async {
      #expect(await OperationStore.detached(query: $mainActorQuery(id: 9)).fetch() == 9)
    }

    @Test func `A run passes the context, the continuation and the isolation`() async throws {
      let store = OperationStore.detached(query: $withRunParameters(id: 1))
      store.context.greeting = "bye"
      let recorder = EventRecorder<QueryState<String, any Error>>()
      #expect(try await store.fetch(handler: recorder.queryHandler) == "1 bye true")
      #expect(recorder.results.map { try? $0.get() } == ["1 so far", "1 bye true"])
    }

    @Test func `Arguments may have the name of the function`() async {
      #expect(await OperationStore.detached(query: $echo(4, context: 1)).fetch() == 5)
      #expect(await OperationStore.detached(query: $context(of: 1)).fetch() == "hello 1")
    }

    @Test func `Arguments may have the names of parameters that a run passes`() async {
      let store = OperationStore.detached(query: $named(context: "name", isolation: 2))
      #expect(await store.fetch() == "name 2 hello")
    }
  }
#endif
