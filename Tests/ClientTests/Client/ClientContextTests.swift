import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The default context of a client, and what operations receive of it.
@Suite(.bounded, .warningsAreIssues)
struct ClientContextTests {
  @Test
  func `The default context keeps its link to the client whatever is assigned`() {
    let client = OperationClient()
    #expect(client.defaultContext.operationClient === client)
    client.defaultContext = OperationContext()
    #expect(client.defaultContext.operationClient === client)
    client.defaultContext.operationClient = nil
    #expect(client.defaultContext.operationClient === client)
    client.defaultContext.operationClient = OperationClient()
    #expect(client.defaultContext.operationClient === client)
    var context = OperationContext()
    context.operationClient = client
    let other = OperationClient(defaultContext: context)
    #expect(other.defaultContext.operationClient === other)
  }

  @Test
  func `Stores begin with the default context of the moment`() async throws {
    var context = OperationContext()
    context[NumberKey.self] = 1
    let client = OperationClient(defaultContext: context)
    let script = IntScript(default: .value(0))
    let first = client.store(for: script.query(path: [1]))
    client.defaultContext[NumberKey.self] = 2
    let second = client.store(for: script.query(path: [2]))
    expect(first.context[NumberKey.self], equals: 1)
    expect(second.context[NumberKey.self], equals: 2)
    #expect(first.context.operationClient === client)
  }

  @Test
  func `A run finds its client and its store in its context`() async throws {
    let client = OperationClient()
    let script = IntScript()
    let store = client.store(for: script.query(path: ["q"]))
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    #expect(run.context.operationClient === client)
    #expect(run.context.runningOperationStore?.base as? IntStore === store)
    #expect(store.context.runningOperationStore == nil)
    run.succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `Setting up happens once for each store`() {
    let client = OperationClient()
    let script = IntScript(default: .value(1))
    for _ in 0..<3 { _ = client.store(for: script.query()) }
    expect(script.setupCount, equals: 1)
  }

  @Test
  func `A context does not keep its client`() {
    var client: OperationClient? = OperationClient()
    weak let witness = client
    let context = client?.defaultContext
    let store = client?.store(for: NumberQuery(1))
    client = nil
    #expect(witness == nil)
    #expect(context?.operationClient == nil)
    #expect(store?.context.operationClient == nil)
  }
}
