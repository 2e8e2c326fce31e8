import OperationCore
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

/// A chain that the compiler checks in an instant. Where it did twice the work with each layer, it would never compile.
@Suite(.bounded, .warningsAreIssues) struct HedgeLongChainTests {
  @Test func `A chain of thirty hedges compiles and runs`() async throws {
    let settings = HedgeSettings(after: .fixed(.seconds(60)), maximum: 1)
    let operation = Work<Int, any Error> { _, _ in 1 }
      .idempotent()
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
      .hedged(using: settings)
    try await expect(operation.runWithoutSetup(in: OperationContext()), equals: 1)
  }
}
