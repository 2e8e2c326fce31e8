import OperationCore
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// Chains that the compiler checks in an instant. Where it did twice the work with each layer, they would never compile.
@Suite(.bounded, .warningsAreIssues) struct TimeoutLongChainTests {
  @Test func `A chain of thirty timeouts compiles and runs`() async throws {
    let operation = Work<Int, any Error> { _, _ in 1 }
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
      .timeout(.seconds(60))
      .timeout(.seconds(50))
      .deadline(after: .seconds(60))
    try await expect(operation.runWithoutSetup(in: OperationContext()), equals: 1)
  }
}
