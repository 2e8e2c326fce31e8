import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// When a value should be fetched again: any rule that says so is enough.
@Suite(.bounded, .warningsAreIssues)
struct StalenessTests {
  private let query = IntScript().query()

  @Test
  func `Without a rule a value is always stale`() {
    let store = IntStore.detached(query: self.query, initialValue: 1)
    #expect(store.isStale)
    store.currentValue = 2
    #expect(store.isStale)
  }

  @Test(arguments: [false, true], [false, true])
  func `With several rules one that holds is enough`(first: Bool, second: Bool) {
    let rules = self.query.staleWhen { _, _ in first }.staleWhen(satisfying: .always(second))
    expect(IntStore.detached(query: rules).isStale, equals: (first || second))
    let swapped = self.query.staleWhen(satisfying: .always(second)).staleWhen { _, _ in first }
    expect(IntStore.detached(query: swapped).isStale, equals: (first || second))
  }

  @Test
  func `A value is stale from its age on`() {
    let clock = ManualClock()
    let store = IntStore.detached(query: self.query.stale(after: .seconds(10)).manualTime(clock))
    #expect(store.isStale)
    store.currentValue = 1
    #expect(!store.isStale)
    clock.advance(by: .milliseconds(9_999))
    #expect(!store.isStale)
    clock.advance(by: .milliseconds(1))
    #expect(store.isStale)
    store.currentValue = 2
    #expect(!store.isStale)
  }

  @Test(arguments: [Duration.zero, .seconds(10), .seconds(Int64.max) * 4])
  func `A value from the future is stale`(_ duration: Duration) {
    let clock = ManualClock()
    let store = IntStore.detached(query: self.query.stale(after: duration).manualTime(clock))
    store.currentValue = 1
    expect(store.isStale, equals: (duration == .zero))
    clock.setDate(clock.now() - 1)
    #expect(store.isStale)
  }

  @Test
  func `A negative age is reported, and makes a value stale at once`() {
    let query = expectWarning(.invalidArgument) { self.query.stale(after: .seconds(-3)) }
    let store = IntStore.detached(query: query)
    store.currentValue = 1
    #expect(store.isStale)
    let warnings = WarningRecorder()
    _ = warnings.recording { self.query.stale(after: .seconds(-3)) }
    expect(warnings.warnings.map(\.message).first?.contains("stale(after:)"), equals: true)
    expect(warnings.warnings.map(\.message).first?.contains("-3"), equals: true)
  }

  @Test
  func `An error does not make a value fresh`() {
    let clock = ManualClock()
    let store = IntStore.detached(query: self.query.stale(after: .seconds(10)).manualTime(clock))
    store.setResult(to: .failure(Refused()))
    #expect(store.isStale)
  }

  @Test
  func `Without a value the rule of age gives its configured answer`() {
    let fresh = IntStore.detached(query: self.query.stale(after: .seconds(10), whenNoValue: false))
    #expect(!fresh.isStale)
    let stale = IntStore.detached(query: self.query.stale(after: .seconds(10), whenNoValue: true))
    #expect(stale.isStale)
  }

  @Test
  func `A rule for missing values`() {
    let store = IntStore.detached(query: self.query.staleWhenNoValue())
    #expect(store.isStale)
    store.currentValue = 1
    #expect(!store.isStale)
    store.currentValue = nil
    #expect(store.isStale)
    #expect(!IntStore.detached(query: self.query.staleWhenNoValue(), initialValue: 1).isStale)
  }

  @Test
  func `Rules for age and for missing values add up`() {
    let clock = ManualClock()
    let rules = self.query.staleWhenNoValue().stale(after: .seconds(10), whenNoValue: false).manualTime(clock)
    let store = IntStore.detached(query: rules)
    #expect(store.isStale)
    store.currentValue = 1
    #expect(!store.isStale)
    store.currentValue = nil
    #expect(store.isStale)
    store.currentValue = 1
    clock.advance(by: .seconds(10))
    #expect(store.isStale)
  }

  @Test
  func `A rule sees the state and the context`() {
    let rule = self.query.staleWhen(predicate: { $0.currentValue ?? 0 < $1[NumberKey.self] })
    let store = IntStore.detached(query: rule, initialValue: 5)
    #expect(!store.isStale)
    store.context[NumberKey.self] = 6
    #expect(store.isStale)
    store.currentValue = 6
    #expect(!store.isStale)
  }

  @Test
  func `Rules beneath a default value see the state beneath, rules above it the default`() {
    let beneath = OperationStore.detached(operation: self.query.staleWhenNoValue().defaultValue(0))
    #expect(beneath.isStale)
    beneath.currentValue = 1
    #expect(!beneath.isStale)
    let above = OperationStore.detached(
      operation: self.query.defaultValue(0).staleWhen { state, _ in state.currentValue == 0 }
    )
    #expect(above.isStale)
    above.currentValue = 1
    #expect(!above.isStale)
  }
}
