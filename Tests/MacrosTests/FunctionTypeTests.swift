#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  // Functions as arguments and as results, with all attributes and specifiers that their types can have.

  private typealias Handler = @Sendable (Int) -> String

  private protocol Describing: Sendable {
    var text: String { get }
  }

  private struct Word: Describing, Hashable {
    var text: String
  }

  @QueryRequest
  func formatter(prefix: String) -> @Sendable (Int) -> String { { "\(prefix)\($0)" } }

  @QueryRequest
  private func formatter() async throws(Failed) -> (@Sendable (Int) -> String)? { { "\($0)" } }

  @QueryRequest
  func mainActorResult() -> @MainActor () -> Int { { 7 } }

  @QueryRequest
  func asyncResult() async -> nonisolated(nonsending) @Sendable () async -> Int { { 8 } }

  @QueryRequest
  func pairOfFunctions() -> (add: @Sendable (Int) -> Int, name: String) { ({ $0 + 1 }, "add") }

  @QueryRequest
  func sendingResult() async throws(Failed) -> sending [Int] { [1] }

  @QueryRequest
  func unwrapped() -> String! { "forced" }

  @MutationRequest
  func maker(arguments: Int) -> @Sendable (Int) -> Int { { $0 + arguments } }

  @MutationRequest
  func applied(arguments: @escaping (Int) -> Int) async -> Int { arguments(1) }

  @MutationRequest
  func applied(maybe: Int, arguments: ((Int) -> Int)?) async -> Int { arguments?(maybe) ?? 0 }

  @MutationRequest
  func forced(arguments: String!) -> String { arguments + "!" }

  @OperationRequest
  private func called(
    _ plain: () -> Int,
    escaping: @escaping () -> Int,
    parenthesized: (() -> Int),
    wrapped: @escaping (@Sendable () -> Int),
    alias: @escaping Handler
  ) -> [Int] {
    [plain(), escaping(), parenthesized(), wrapped(), alias(5).count]
  }

  @OperationRequest
  func calledOptionally(
    _ optional: (() -> Int)?,
    throwing: (() throws -> Int)? = nil,
    pair: (first: () -> Int, second: Int),
    list: [@Sendable () -> Int],
    byName: [String: @Sendable () -> Int]
  ) -> [Int] {
    [optional?() ?? 0, (try? throwing?()) ?? 0, pair.first(), pair.second, list[0](), byName["a"]?() ?? 0]
  }

  @OperationRequest
  func calledOnMainActor(_ body: @MainActor () -> Int, escaping: @MainActor @escaping () -> Int) async -> [Int] {
    await [body(), escaping()]
  }

  @OperationRequest
  func calledAsynchronously(
    _ body: nonisolated(nonsending) () async throws(Failed) -> Int,
    concurrent: @concurrent @escaping () async throws(Failed) -> Int,
    isolated: @isolated(any) @escaping () async -> Int
  ) async throws(Failed) -> [Int] {
    [try await body(), try await concurrent(), await isolated()]
  }

  @QueryRequest(path: .custom { (_: any Describing, _: Word, _: Word) in ["words"] })
  private func described(
    _ existential: any Describing,
    borrowed: borrowing Word,
    consumed: consuming Word
  ) async throws(Failed) -> String {
    if existential.text.isEmpty { throw Failed(code: 1) }
    return existential.text + borrowed.text + consumed.text
  }

  @QueryRequest
  private func described(opaque: some Describing & Hashable) async throws(Failed) -> [any Describing] { [opaque] }

  @OperationRequest
  func failing<E: Error>(with error: E) async throws(E) -> Int { throw error }

  @Suite(.bounded) struct FunctionTypeTests {
    @Test func `A result keeps its attributes`() async throws {
      let format = await OperationStore.detached(query: $formatter(prefix: "n")).fetch()
      #expect(format(1) == "n1")
      let optional = try await OperationStore.detached(query: $formatter).fetch()
      #expect(optional?(2) == "2")
      let result = await OperationStore.detached(query: $mainActorResult).fetch()
      #expect(await result() == 7)
      let async = await OperationStore.detached(query: $asyncResult).fetch()
      #expect(await async() == 8)
      let pair = await OperationStore.detached(query: $pairOfFunctions).fetch()
      #expect(pair.add(1) == 2)
      #expect(try await OperationStore.detached(query: $sendingResult).fetch() == [1])
      #expect(await OperationStore.detached(query: $unwrapped).fetch() == "forced")
    }

    @Test func `A mutation takes and returns functions`() async throws {
      let add = await OperationStore.detached(mutation: $maker).mutate(with: 2)
      #expect(add(1) == 3)
      #expect(await OperationStore.detached(mutation: $applied).mutate(with: { $0 + 1 }) == 2)
      #expect(await OperationStore.detached(mutation: $applied(maybe: 3)).mutate(with: { $0 + 1 }) == 4)
      #expect(await OperationStore.detached(mutation: $forced).mutate(with: "a") == "a!")
    }

    @Test func `An argument is a function in every spelling`() async {
      let called = $called({ 1 }, escaping: { 2 }, parenthesized: { 3 }, wrapped: { 4 }, alias: { "\($0)" })
      #expect(await #run(called) == [1, 2, 3, 4, 1])
    }

    @Test func `An argument may contain functions`() async {
      let calls = Atomic(0)
      let call = { @Sendable in calls.add(1, ordering: .relaxed).newValue }
      let called = $calledOptionally(call, throwing: call, pair: (call, 7), list: [call], byName: ["a": call])
      #expect(await #run(called) == [1, 2, 3, 7, 4, 5])
    }

    @Test func `An argument keeps its isolation`() async throws {
      #expect(await #run($calledOnMainActor({ 1 }, escaping: { 2 })) == [1, 2])
      #expect(try await #run($calledAsynchronously({ 1 }, concurrent: { 2 }, isolated: { 3 })) == [1, 2, 3])
    }

    @Test func `An argument is passed as the function takes it`() async throws {
      let described = $described(Word(text: "a"), borrowed: Word(text: "b"), consumed: Word(text: "c"))
      #expect(try await OperationStore.detached(query: described).fetch() == "abc")
      let opaque = try await OperationStore.detached(query: $described(opaque: Word(text: "d"))).fetch()
      #expect(opaque.map(\.text) == ["d"])
    }

    @Test func `An error has the type of the function's failure`() async {
      do throws(Failed) {
        _ = try await #run($failing(with: Failed(code: 4)))
        Issue.record("It failed to fail.")
      } catch {
        #expect(error.code == 4)
      }
    }
  }
#endif
