import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The level of these tests keeps the rules, and the check finds one that does not.
@Suite(.bounded, .warningsAreIssues) struct ShelfConformanceTests {
  @Test(arguments: [ValueReach.process, .fleet])
  func `The shelf keeps the rules of levels`(reach: ValueReach) async throws {
    try await checkValueLevel { Shelf(reach: reach) }
  }

  @Test func `A shelf that suspends keeps them, too`() async throws {
    try await checkValueLevel { Shelf(gate: Gate(isOpen: true)) }
  }

  @Test(arguments: [
    (Shelf.Variant.returnsRemoved, ValueLevelRule.removal), (.keepsUnconfirmed, .refusal),
    (.ignoresInvalidations, .invalidation),
  ])
  func `The check finds a level that breaks a rule`(variant: Shelf.Variant, rule: ValueLevelRule) async throws {
    try await withKnownIssue {
      try await checkValueLevel([rule]) { Shelf(variant) }
    } matching: { issue in
      issue.comments.contains { $0.rawValue.hasPrefix("The level breaks the rule '\(rule)': ") }
    }
    try await checkValueLevel(except: [rule]) { Shelf(variant) }
  }
}
