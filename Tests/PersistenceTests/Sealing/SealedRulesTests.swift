import OperationPersistence
import OperationPersistenceTesting
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct SealedRulesTests {
  @Test func `A sealed storage keeps the rules of storages`() async throws {
    let clock = ManualClock()
    try await checkStorage(
      passing: { clock.advance(by: $1) },
      { SealedStorage(InMemoryStorage(elapsed: { clock.elapsed }), key: TestKey(1)) }
    )
  }

  @Test(arguments: [SealedStorage.Rewriting.whenWritten, .whenRead])
  func `A sealed storage keeps the rules while its key changes`(rewriting: SealedStorage.Rewriting) async throws {
    let clock = ManualClock()
    try await checkStorage(
      passing: { clock.advance(by: $1) },
      {
        let base = InMemoryStorage(elapsed: { clock.elapsed })
        return SealedStorage(base, key: TestKey(3), previousKeys: [TestKey(2), TestKey(1)], rewriting: rewriting)
      }
    )
  }
}
