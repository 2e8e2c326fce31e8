import Foundation
import Operation
import OperationDerivation
import OperationFallback
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What each kind of value may be used for: the table of the article "Values and what they are used for", cell by cell.
@Suite(.bounded, .warningsAreIssues) struct ValueTableTests {
  /// How a store gets its value.
  enum Source: String, CaseIterable, Sendable {
    case none, initial, datedInitial, partial, fallbackShown, fallbackFresh, fallbackAsValue, set, final, unconfirmed
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let source: Source
    let stamp: ValueStamp
    var shown: Int?
    let isFresh: Bool
    /// The value that a client finds that begins with the storage, and one that it was handed over to. Nil for none.
    var stored: Int?
    var handedOver: Int?
    var isFreshElsewhere = false
    /// The value of a derived query, and what is known of it, after the reading of the source.
    var derived: Int?
    var derivedStamp = ValueStamp(.final)

    var testDescription: String { self.source.rawValue }
  }

  static let rows = [
    Row(source: .none, stamp: ValueStamp(.none), isFresh: false, derived: 90),
    Row(source: .initial, stamp: ValueStamp(.initial), shown: 1, isFresh: false, derived: 90),
    Row(source: .datedInitial, stamp: ValueStamp(.initial), shown: 1, isFresh: true, derived: 10),
    Row(source: .partial, stamp: ValueStamp(.partial), shown: 1, isFresh: false, stored: 1, handedOver: 1, derived: 90),
    Row(
      source: .fallbackShown,
      stamp: ValueStamp(.fallback),
      shown: -1,
      isFresh: false,
      stored: 5,
      isFreshElsewhere: true,
      derived: 90
    ),
    Row(
      source: .fallbackFresh,
      stamp: .fallback(freshFor: .seconds(30)),
      shown: -1,
      isFresh: true,
      stored: 5,
      isFreshElsewhere: true,
      derived: -10,
      derivedStamp: .fallback(freshFor: .seconds(30))
    ),
    Row(
      source: .fallbackAsValue,
      stamp: ValueStamp(.final),
      shown: -1,
      isFresh: true,
      stored: -1,
      handedOver: -1,
      isFreshElsewhere: true,
      derived: -10
    ),
    Row(
      source: .set,
      stamp: ValueStamp(.set),
      shown: 1,
      isFresh: true,
      stored: 1,
      handedOver: 1,
      isFreshElsewhere: true,
      derived: 10
    ),
    Row(
      source: .final,
      stamp: ValueStamp(.final),
      shown: 1,
      isFresh: true,
      stored: 1,
      handedOver: 1,
      isFreshElsewhere: true,
      derived: 10
    ),
    Row(
      source: .unconfirmed,
      stamp: ValueStamp(.final, isUnconfirmed: true),
      shown: 2,
      isFresh: true,
      // The value below the update, which a service has confirmed.
      stored: 1,
      handedOver: 1,
      isFreshElsewhere: true,
      derived: 20,
      derivedStamp: ValueStamp(.final, isUnconfirmed: true)
    ),
  ]

  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 1_000))
  private let storage = InMemoryStorage()
  private let script = OperationScript<Int, any Error>(default: .value(9))

  private func client() -> OperationClient {
    var context = OperationContext()
    context.use(self.clock)
    context.operationStorage = self.storage
    context.automaticRunningSpecification = .always(false)
    return OperationClient(defaultContext: context, storeCreator: OperationClient.PlainStoreCreator())
  }

  private typealias Store = OperationStore<QueryState<Int, any Error>>

  private func query(_ source: Source) -> some QueryRequest<Int, any Error> {
    let use: FallbackUse =
      switch source {
      case .fallbackFresh: .fresh(for: .seconds(30))
      case .fallbackAsValue: .asValue
      default: .shown
      }
    let query = self.script.query(path: ["number"])
    let isFallback = source.rawValue.hasPrefix("fallback")
    return
      (isFallback ? AnyQuery(query.fallback(-1, use: use)) : AnyQuery(query))
      .stale(after: .seconds(60)).persisted(as: "number").hydratable(as: "number")
  }

  /// The store of a client, with its value.
  private func store(_ source: Source, in client: OperationClient) async throws -> Store {
    let query = self.query(source)
    let initial: QueryState<Int, any Error>? =
      switch source {
      case .initial: QueryState(initialValue: 1)
      case .datedInitial: QueryState(initialValue: 1, updatedAt: self.clock.now())
      default: nil
      }
    let store: Store = client.store(for: query, initialState: initial ?? QueryState())
    switch source {
    case .none, .initial, .datedInitial: break
    case .partial:
      self.script.enqueue(.yield(.success(1), then: .error(Refused())))
      await #expect(throws: Refused.self) { try await store.fetch() }
    case .fallbackShown, .fallbackFresh, .fallbackAsValue:
      self.script.enqueue(.value(5), .error(Refused()))
      try await store.fetch()
      try await store.fetch()
    case .set: store.currentValue = 1
    case .final, .unconfirmed:
      self.script.enqueue(.value(1))
      try await store.fetch()
      if source == .unconfirmed { store.addLayer(StateLayerIdentifier()) { $0 = 2 } }
    }
    return store
  }

  @Test(arguments: rows)
  func `Each kind of value is used as the table says`(_ row: Row) async throws {
    let client = self.client()
    let store = try await self.store(row.source, in: client)
    expect(store.currentValue, equals: row.shown)
    expect(store.valueStamp, equals: row.stamp)
    expect(store.isStale, equals: !row.isFresh)
    expect(store.staleness.isStale, equals: store.isStale)
    expect(store.inspect().staleness, equals: store.staleness)

    await client.persistence.flush()
    let restarted = self.client()
    await restarted.restore()
    let restored = restarted.store(for: self.query(.final))
    expect(restored.currentValue, equals: row.stored)
    if row.stored != nil { expect(restored.isStale, equals: !row.isFreshElsewhere) }

    let other = self.client()
    other.defaultContext.operationStorage = InMemoryStorage()
    other.hydrate(client.dehydrate())
    let handedOver = other.store(for: self.query(.final))
    expect(handedOver.currentValue, equals: row.handedOver)
    if row.handedOver != nil { expect(handedOver.isStale, equals: !row.isFreshElsewhere) }

    let query = self.query(row.source)
    let derived = client.store(
      for: QueryOperation<Int, any Error>("derived") { try await $0.value(of: query) * 10 }.derived()
    )
    try await expect(derived.fetch(), equals: row.derived)
    expect(derived.valueStamp, equals: row.derivedStamp)
  }

  @Test func `A fallback stays one when an update of a source is confirmed`() async throws {
    let client = self.client()
    let (account, refused) = (self.query(.set), OperationScript<Int, any Error>(default: .error(Refused())))
    let source = client.store(for: account)
    source.currentValue = 2
    let layer = StateLayerIdentifier()
    source.addLayer(layer) { $0 = 2 }
    let rates = refused.query(path: ["rates"])
    let store = client.store(
      for: QueryOperation<Int, any Error>("derived") { try await $0.value(of: account) * $0.value(of: rates) }
        .fallback(-1).derived()
    )
    let subscription = store.subscribe { _ in }
    defer { subscription.cancel() }
    try await expect(store.fetch(), equals: -1)
    expect(store.valueStamp, equals: ValueStamp(.fallback, isUnconfirmed: true))
    source.removeLayer(layer)
    await client.settledDerivations()
    expect(store.currentValue, equals: -1)
    expect(store.valueStamp.kind, equals: .fallback)
  }

  @Test func `Every way to get a value has a row`() {
    expect(Self.rows.map(\.source), equals: Source.allCases)
  }
}

extension ValueStamp {
  fileprivate static func fallback(freshFor duration: Duration) -> ValueStamp {
    var stamp = ValueStamp(.fallback)
    stamp.freshness = duration
    return stamp
  }
}
