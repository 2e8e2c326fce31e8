import OperationCore
import OperationDerivation
import OperationTesting
import TestFixtures
import Testing

/// Resets of sources while a derived query reads them: at rest it shows what the sources show.
@Suite(.bounded, .warningsAreIssues)
struct ResetTests {
  let client = OperationClient.automatic()
  let calls = Counter()
  let gate = Gate()

  /// A query that counts its calls, of which the first waits.
  private func source(ignoresCancellation: Bool) -> QueryOperation<Int, any Error> {
    QueryOperation("source") { [calls, gate] _ in
      let number = calls.increment()
      if number == 1 { try await ignoresCancellation ? gate.waitIgnoringCancellation() : gate.wait() }
      return number
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `A source that is reset during its run runs again for who waits for it`(
    _ ignoresCancellation: Bool,
    _ catches: Bool
  ) async throws {
    let source = self.source(ignoresCancellation: ignoresCancellation).staleWhenNoValue()
    let derived = Derived("d") { context in
      do { return try await context.value(of: source) } catch {
        if catches { return 0 }
        throw error
      }
    }
    let shown = Shown(self.client.store(for: derived.query))
    try await self.gate.arrivals(count: 1)
    self.client.store(for: source).resetState()
    self.gate.open()
    await self.client.settledDerivations()
    #expect(shown.all == [2] && self.client.store(for: source).currentValue == 2)
  }

  @Test
  func `A default value that a reset has left is not read for the value of the run`() async throws {
    let source = self.source(ignoresCancellation: true).defaultValue(-1)
      .staleWhen { state, _ in state.valueUpdateCount == 0 }
    let derived = Derived("d") { try await $0.value(of: source) }
    let shown = Shown(self.client.store(for: derived.query))
    try await self.gate.arrivals(count: 1)
    self.client.store(for: source).resetState()
    self.gate.open()
    await self.client.settledDerivations()
    #expect(shown.all == [2] && self.client.store(for: source).currentValue == 2)
  }

  @Test
  func `A source that is reset when it was found fresh is read once more`() async throws {
    let reset = Box<(@Sendable () -> Void)?>(nil)
    let source = QueryOperation<Int, any Error>("source") { [calls] _ in calls.increment() }.defaultValue(-1)
      .staleWhen { state, _ in
        let action = reset.value
        reset.value = nil
        action?()
        return state.valueUpdateCount == 0
      }
    let store = self.client.store(for: source)
    store.currentValue = 7
    let derived = Derived("d") { try await $0.value(of: source) }
    reset.value = { [weak store] in store?.resetState() }
    let shown = Shown(self.client.store(for: derived.query))
    await self.client.settledDerivations()
    #expect(shown.all == [1] && store.currentValue == 1)
  }
}
