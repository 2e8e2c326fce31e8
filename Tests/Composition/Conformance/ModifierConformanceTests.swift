import Operation
import OperationTesting
import TestFixtures
import Testing

/// Every modifier of the library keeps the rules of modifiers, alone and around others.
@Suite(.bounded) struct ModifierConformanceTests {
  @Test(arguments: BuiltInModifier.all)
  func `Each modifier keeps the rules`(modifier: BuiltInModifier) async throws {
    try await self.check([modifier])
  }

  @Test(arguments: BuiltInModifier.all)
  func `Each modifier around any other keeps the rules`(outer: BuiltInModifier) async throws {
    for inner in BuiltInModifier.all { try await self.check([inner, outer]) }
  }

  @Test(arguments: BuiltInModifier.running)
  func `Each modifier of runs around any two of them keeps the rules`(outer: BuiltInModifier) async throws {
    for middle in BuiltInModifier.running {
      for inner in ModelRuns.part(of: BuiltInModifier.running, every: 7) {
        try await self.check([inner, middle, outer])
      }
    }
  }

  @Test func `The default modifiers together keep the rules`() async throws {
    try await checkModifier {
      $0.retry(limit: 2).delayer(.noDelay).deduplicated(by: { _, _ in false })
        .enableAutomaticRunning(onlyWhen: .always(true))
        .rerunOnChange(of: .connected(to: MockNetworkObserver(initialStatus: .connected)))
    }
  }

  /// Checks a query with modifiers, innermost first.
  private func check(_ modifiers: [BuiltInModifier]) async throws {
    let exceptions = modifiers.reduce(into: Set<ModifierRule>()) { $0.formUnion($1.exceptions) }
    try await checkModifier(except: exceptions) { query in
      modifiers.reduce(AnyQuery(query)) { $1.apply($0) }
    }
  }
}
