import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// A chain that the compiler checks in an instant. Where it did twice the work with each layer, it would never compile.
@Suite(.bounded, .warningsAreIssues) struct LongChainTests {
  @Test func `A chain of thirty deduplications compiles and runs`() async throws {
    let operation = Work<Int, any Error> { _, _ in 1 }
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
      .deduplicated()
    try await expect(operation.runWithoutSetup(in: OperationContext()), equals: 1)
  }
}
