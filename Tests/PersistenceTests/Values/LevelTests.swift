import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationPersistence

/// A storage, and what was handed over, as levels.
@Suite(.bounded, .warningsAreIssues) struct LevelTests {
  @Test func `A storage keeps the rules of levels`() async throws {
    // Dates are in the bytes of the values, which the level does not read.
    try await checkValueLevel(
      except: [.dates],
      reopening: { writer in
        guard let storage = writer.storage as? InMemoryStorage else { return writer }
        let entries = try await storage.entries(withPrefix: "")
        return StateWriter(storage: InMemoryStorage(entries: entries))
      },
      { StateWriter(storage: InMemoryStorage()) }
    )
  }

  @Test func `What was handed over keeps the rules of levels`() async throws {
    // It numbers no invalidations: its store asks the client.
    try await checkValueLevel(except: [.invalidation, .dates], { ClientHydration() })
  }
}
