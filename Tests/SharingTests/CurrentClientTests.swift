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
    #expect(result == 1)
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

  @Test(.freshClient) func `A test and its tasks share their client`() async {
    let client = OperationClient.current
    await Task { #expect(OperationClient.current === client) }.value
    await Task.detached { #expect(OperationClient.current !== client) }.value
  }
}
