import OperationTesting
import SharingOperation
import TestFixtures
import Testing

@Suite(.bounded)
struct CurrentClientTests {
  @Test func `The client for the process is the same everywhere`() async {
    let client = OperationClient.current
    #expect(OperationClient.current === client)
    await Task.detached { #expect(OperationClient.current === client) }.value
  }

  @Test func `A replacement applies to a task and its children, until it ends`() async throws {
    let client = OperationClient()
    let outside = OperationClient.current
    let result = try await OperationClient.withCurrent(client) { () async throws in
      #expect(OperationClient.current === client)
      await Task { #expect(OperationClient.current === client) }.value
      async let child = OperationClient.current === client
      #expect(await child)
      return 1
    }
    expect(result, equals: 1)
    #expect(OperationClient.current === outside)
  }

  @Test func `Replacements nest`() {
    let outer = OperationClient()
    let inner = OperationClient()
    OperationClient.withCurrent(outer) {
      OperationClient.withCurrent(inner) { #expect(OperationClient.current === inner) }
      #expect(OperationClient.current === outer)
    }
  }

  @Test func `A replacement passes errors on with their types`() async {
    func fail() throws(Refused) -> Int { throw Refused() }
    func failLater() async throws(Refused) -> Int { throw Refused() }
    #expect(throws: Refused()) { try OperationClient.withCurrent(OperationClient(), operation: fail) }
    await #expect(throws: Refused()) {
      try await OperationClient.withCurrent(OperationClient()) { () async throws(Refused) in try await failLater() }
    }
  }

  @Test func `A wrapper uses the current client`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let client = makeClient(runsAutomatically: false)
    let shared = OperationClient.withCurrent(client) { SharedOperation(script.query()) }

    #expect(shared.store === client.store(for: script.query()))
  }

  @Test(.freshClient, arguments: 0..<3)
  func `Each case of a test has a client of its own`(number: Int) {
    let path: OperationPath = ["CurrentClientTests", "case"]
    #expect(OperationClient.current.store(with: path) == nil)
    let script = OperationScript<Int, any Error>()
    _ = OperationClient.current.store(for: script.query(path: path))
    #expect(OperationClient.current.store(with: path) != nil)
  }

  /// A query or a mutation that returns whether the current client in its body, and in a task of it, is `expected`.
  private static func isCurrent(_ expected: OperationClient) async -> Bool {
    let child = await Task { OperationClient.current === expected }.value
    return OperationClient.current === expected && child
  }

  @Test func `In a body the client of its store is current, whoever calls`() async throws {
    let (client, other) = (makeClient(runsAutomatically: false), OperationClient())
    let query = QueryOperation<Bool, any Error>("current") { [weak client] _ in
      guard let client else { return false }
      return await Self.isCurrent(client)
    }
    let mutation = MutationOperation<Int, Bool, any Error>("current mutation") { [weak client] _, _ in
      guard let client else { return false }
      return await Self.isCurrent(client)
    }
    try await OperationClient.withCurrent(other) { () async throws in
      #expect(try await client.store(for: query).fetch())
      #expect(try await client.store(for: mutation).mutate(with: 1))
      #expect(OperationClient.current === other)
    }
  }

  @Test func `In a run that another task has caused, the client of the store is current`() async throws {
    let (client, other) = (makeClient(), OperationClient())
    let results = Log<Bool>()
    let query = QueryOperation<Bool, any Error>("rerun") { [weak client] _ in
      guard let client else { return false }
      results.append(await Self.isCurrent(client))
      return true
    }
    let store = client.store(for: query)
    let subscription = OperationClient.withCurrent(other) { store.subscribe { _ in } }
    _ = try await store.fetch()
    await OperationClient.withCurrent(other) { await client.invalidate().settled() }
    #expect(results.count >= 2 && results.all.allSatisfy(\.self))
    subscription.cancel()
  }

  @Test func `A replacement in a body ends with it, and runs inside have their own clients`() async throws {
    let (outer, inner, replaced) = (makeClient(runsAutomatically: false), makeClient(), OperationClient())
    let innermost = QueryOperation<Bool, any Error>("innermost") { [weak inner] _ in
      OperationClient.current === inner
    }
    let detached = QueryOperation<Bool, any Error>("detached") { _ in OperationClient.current === replaced }
    let query = QueryOperation<Bool, any Error>("outer") { [weak outer] _ in
      let isReplaced = try await OperationClient.withCurrent(replaced) { () async throws in
        let isInner = try await inner.store(for: innermost).fetch()
        let isKept = try await OperationStore.detached(query: detached.deduplicated()).fetch()
        return isInner && isKept && OperationClient.current === replaced
      }
      return isReplaced && OperationClient.current === outer
    }
    #expect(try await outer.store(for: query).fetch())
  }

  @Test(.freshClient) func `A test and its tasks share their client`() async {
    let client = OperationClient.current
    await Task { #expect(OperationClient.current === client) }.value
    await Task.detached { #expect(OperationClient.current !== client) }.value
  }
}
