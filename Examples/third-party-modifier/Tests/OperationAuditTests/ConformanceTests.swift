import OperationAudit
import OperationCore
import OperationTesting
import Testing

/// What other modifiers and stores rely on.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct ConformanceTests {
  @Test
  func `The modifier keeps all rules for modifiers`() async throws {
    try await checkModifier { $0.audited(in: AuditTrail()) }
  }

  @Test
  func `It keeps them when it is applied twice, with one trail and with two`() async throws {
    let trail = AuditTrail()
    try await checkModifier { $0.audited(in: trail).audited(in: trail) }
    try await checkModifier { $0.audited(in: trail).audited(in: AuditTrail()) }
  }

  @Test
  func `It keeps them while a subscriber listens`() async throws {
    let trail = AuditTrail()
    let subscription = trail.subscribe { _ in _ = trail.records }
    defer { subscription.cancel() }
    try await checkModifier { $0.audited(in: trail) }
  }

  @Test
  func `An audited query is a query, and its store is found at the same path`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(3))
    let (client, query) = (OperationClient(), script.query(path: ["number"]))
    let store = client.store(for: asQuery(query.audited(in: AuditTrail())))
    #expect(try await store.fetch() == 3)
    #expect(client.store(with: ["number"])?.base as AnyObject === store)
  }

  @Test
  func `The work runs on the actor of the caller`() async throws {
    let operation = WhereAmI().audited(in: AuditTrail())
    let isOnMainActor = await Task { @MainActor in await OperationRunner(operation: operation).run() }.value
    #expect(isOnMainActor)
    #expect(await OperationRunner(operation: operation).run(isolation: nil) == false)
  }
}

private func asQuery(_ query: some QueryRequest<Int, any Error>) -> some QueryRequest<Int, any Error> { query }

/// Returns whether it runs on the main actor, with a failure type that allows no error.
private struct WhereAmI: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Bool, Never>
  ) async -> Bool {
    isolation === MainActor.shared
  }
}
