import Operation
import OperationTesting
import Testing

/// Every modifier of the library keeps the rules that modifiers have to keep.
@Suite struct ModifierConformanceTests {
  @Test func retry() async throws { try await checkModifier { $0.retry(limit: 2).delayer(.noDelay) } }

  @Test func deduplicated() async throws { try await checkModifier { $0.deduplicated(by: { _, _ in false }) } }

  @Test func backoff() async throws { try await checkModifier { $0.backoff(.noBackoff) } }

  @Test func context() async throws { try await checkModifier { $0.context { $0.operationCacheTime = .zero } } }

  @Test func staleness() async throws { try await checkModifier { $0.stale(after: .seconds(1)) } }

  @Test func events() async throws { try await checkModifier { $0.handleEvents(with: OperationEventHandler()) } }

  @Test func polling() async throws { try await checkModifier { $0.rerun(every: .seconds(1)) } }

  @Test func theDefaultsTogether() async throws {
    try await checkModifier {
      $0.retry(limit: 2).delayer(.noDelay).deduplicated(by: { _, _ in false })
        .enableAutomaticRunning(onlyWhen: .always(true))
        .rerunOnChange(of: .connected(to: MockNetworkObserver(initialStatus: .connected)))
    }
  }
}
