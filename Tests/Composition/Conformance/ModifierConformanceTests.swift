import Operation
import OperationTesting
import Testing

/// Every modifier of the library keeps the rules that modifiers have to keep.
@Suite struct ModifierConformanceTests {
  @Test func `Retries keep the rules of modifiers`() async throws {
    try await checkModifier { $0.retry(limit: 2).delayer(.noDelay) }
  }

  @Test func `Sharing runs keeps the rules of modifiers`() async throws {
    try await checkModifier { $0.deduplicated(by: { _, _ in false }) }
  }

  @Test func `A backoff keeps the rules of modifiers`() async throws {
    try await checkModifier { $0.backoff(.noBackoff) }
  }

  @Test func `Edits of the context keep the rules of modifiers`() async throws {
    try await checkModifier { $0.context { $0.operationCacheTime = .zero } }
  }

  @Test func `Staleness rules keep the rules of modifiers`() async throws {
    try await checkModifier { $0.stale(after: .seconds(1)) }
  }

  @Test func `Event handlers keep the rules of modifiers`() async throws {
    try await checkModifier { $0.handleEvents(with: OperationEventHandler()) }
  }

  @Test func `Polling keeps the rules of modifiers`() async throws {
    try await checkModifier { $0.rerun(every: .seconds(1)) }
  }

  @Test func `The default modifiers together keep the rules of modifiers`() async throws {
    try await checkModifier {
      $0.retry(limit: 2).delayer(.noDelay).deduplicated(by: { _, _ in false })
        .enableAutomaticRunning(onlyWhen: .always(true))
        .rerunOnChange(of: .connected(to: MockNetworkObserver(initialStatus: .connected)))
    }
  }
}
