import FoundationEssentials
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// `keepsEqualValues()`
@Suite(.bounded, .warningsAreIssues)
struct EqualValuesTests {
  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 0))
  private let script = OperationScript<Boxed, any Error>()

  private var query: some QueryRequest<Boxed, any Error> {
    self.script.query().keepsEqualValues().manualTime(self.clock)
  }

  @Test
  func `An equal value keeps the old one and is counted and dated as an update`() async throws {
    let store = OperationStore.detached(query: self.query)
    let old = Boxed(1)
    self.script.enqueue(.value(old), .value(Boxed(1)), .value(Boxed(2)))
    let results = Mutex<[Boxed]>([])
    let subscription = store.subscribe(
      with: QueryEventHandler(
        onResultReceived: { result, _ in results.withLock { $0.append((try? result.get()) ?? Boxed(-1)) } }
      )
    )
    try await store.fetch()
    self.clock.advance(by: .seconds(5))
    #expect(try await store.fetch() === old)
    #expect(store.currentValue === old)
    expect(store.valueUpdateCount, equals: 2)
    expect(store.valueLastUpdatedAt, equals: Date(timeIntervalSinceReferenceDate: 5))
    try await store.fetch()
    expect(store.currentValue?.number, equals: 2)
    expect(results.withLock { $0.map { $0 === old } }, equals: [true, true, false])
    subscription.cancel()
  }

  @Test
  func `An equal value that is yielded keeps the old one, and clears an error`() async throws {
    let store = OperationStore.detached(query: self.query)
    let old = Boxed(1)
    store.currentValue = old
    store.setResult(to: .failure(Refused()))
    self.script.enqueue(.yield(.success(Boxed(1)), then: .error(Refused(code: 2))))
    await #expect(throws: Refused(code: 2)) { try await store.fetch() }
    #expect(store.currentValue === old)
    self.script.enqueue(.value(Boxed(1)))
    try await store.fetch()
    #expect(store.currentValue === old && store.error == nil)
  }

  @Test
  func `It works inside and outside of a default value, and beneath optimistic updates`() async throws {
    let inside = OperationStore.detached(operation: self.query.defaultValue(Boxed(0)))
    let outside = OperationStore.detached(operation: self.script.query().defaultValue(Boxed(0)).keepsEqualValues())
    for store in [inside, outside] {
      let old = Boxed(1)
      store.currentValue = old
      let id = StateLayerIdentifier()
      store.addLayer(id) { $0 = Boxed(7) }
      self.script.enqueue(.value(Boxed(1)))
      try await store.run()
      store.removeLayer(id)
      #expect(store.currentValue === old)
      self.script.enqueue(.value(Boxed(7)))
      try await store.run()
      expect(store.currentValue.number, equals: 7)
    }
  }

  @Test
  func `Values are compared with no lock held`() async throws {
    let store = OperationStore.detached(query: self.query)
    store.currentValue = Boxed(1) { _ = store.state }
    self.script.enqueue(.value(Boxed(1) { store.withExclusiveAccess { _ = $0.currentValue } }))
    try await store.fetch()
    expect(store.valueUpdateCount, equals: 2)
    store.currentValue = nil
  }

  @Test
  func `Outside a store it does nothing`() async throws {
    let new = Boxed(1)
    self.script.enqueue(.value(new))
    #expect(try await OperationRunner(operation: self.query).run() === new)
  }
}

/// A value whose `==` is a user's code.
private final class Boxed: Equatable, Sendable {
  let number: Int
  private let onCompare: @Sendable () -> Void

  init(_ number: Int, onCompare: @escaping @Sendable () -> Void = {}) {
    self.number = number
    self.onCompare = onCompare
  }

  static func == (lhs: Boxed, rhs: Boxed) -> Bool {
    lhs.onCompare()
    rhs.onCompare()
    return lhs.number == rhs.number
  }
}
