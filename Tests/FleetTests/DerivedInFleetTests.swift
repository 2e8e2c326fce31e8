import OperationCore
import OperationDerivation
import OperationFleet
import OperationFreshness
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Derived queries with `.sharedInFleet`: each node derives from its own sources, and hears what invalidates those.
@Suite(.bounded, .warningsAreIssues) struct DerivedInFleetTests {
  /// What happens to the source on the first node, or on the second one.
  enum Change: CaseIterable, Sendable {
    case set, invalidated, invalidatedElsewhere, tagged, taggedElsewhere, reset, everything
  }

  /// How the source is shared.
  enum Sharing: CaseIterable, Sendable {
    case none, shared, pushed
  }

  /// How the fleet is asked to share the derived value, and which modifier comes first.
  enum Order: String, CaseIterable, Sendable {
    case derivedThenShared, sharedThenDerived, derivedThenKept, keptThenDerived

    static let shared = [Self.derivedThenShared, .sharedThenDerived]

    /// What is reported.
    var warning: OperationWarning.Code { Self.shared.contains(self) ? .unsharedValue : .levelFailed }
  }

  struct Situation: Sendable, CustomTestStringConvertible {
    let change: Change
    let order: Order
    let sharing: Sharing
    /// Whether the derived query has a subscriber on the second node, too.
    let isOnBothScreens: Bool

    static var all: [Self] {
      Change.allCases.flatMap { change in
        Sharing.allCases.flatMap { sharing in
          Order.allCases.flatMap { order in
            [true, false].map { Self(change: change, order: order, sharing: sharing, isOnBothScreens: $0) }
          }
        }
      }
    }

    var testDescription: String {
      let screens = self.isOnBothScreens ? "both screens" : "one screen"
      return "\(self.change), \(self.order), source \(self.sharing), on \(screens)"
    }
  }

  private typealias Number = AnyQuery<Int>

  /// What the service answers.
  private let amountOfService = Box(1)

  private func amount(_ sharing: Sharing = .none, takes duration: Duration = .zero) -> Number {
    let query = QueryOperation<Int, any Error>("amount", 1) { [amountOfService] context in
      if duration > .zero { try await context.operationDeadlines.sleep(for: duration) }
      return amountOfService.value
    }
    .tagged { _ in [.entity("amount", 1)] }.staleWhenNoValue().enableAutomaticRunning(onlyWhen: .always(true))
    let timeToLive = Duration.seconds(3_600)
    return switch sharing {
    case .none: Number(query)
    case .shared: Number(query.sharedInFleet(as: "amount", timeToLive: timeToLive))
    case .pushed: Number(query.sharedInFleet(as: "amount", timeToLive: timeToLive, isPushed: true))
    }
  }

  /// Ten times the amount.
  private func total(of amount: Number, _ order: Order, on node: Fleet.Node) -> Number {
    let query = QueryOperation<Int, any Error>("total", 1) { try await $0.value(of: amount) * 10 }
      .staleWhenNoValue().enableAutomaticRunning(onlyWhen: .always(true))
    let timeToLive = Duration.seconds(3_600)
    let encode: @Sendable (Int) -> [UInt8] = { [UInt8($0)] }
    let decode: @Sendable ([UInt8]) -> Int = { Int($0[0]) }
    let level = node.fleetNode
    return switch order {
    case .derivedThenShared: Number(query.derived().sharedInFleet(as: "total", timeToLive: timeToLive))
    case .sharedThenDerived: Number(query.sharedInFleet(as: "total", timeToLive: timeToLive).derived())
    case .derivedThenKept: Number(query.derived().kept(in: level, as: "total", encode: encode, decode: decode))
    case .keptThenDerived: Number(query.kept(in: level, as: "total", encode: encode, decode: decode).derived())
    }
  }

  /// What a reader of a fresh value gets within a second.
  private func read(_ query: Number, on node: Fleet.Node, in fleet: Fleet) -> Int? {
    let value = Box<Int?>(nil)
    _ = fleet.perform { value.value = try? await node.client.ensureValue(for: query) }
    fleet.advance(by: .seconds(1))
    return value.value
  }

  @Test(arguments: Situation.all)
  func `A change of a source reaches the derived value of each node`(_ situation: Situation) {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let amount = self.amount(situation.sharing)
    let totals = [a, b].map { self.total(of: amount, situation.order, on: $0) }
    let (store, subscriptions) = expectWarning(situation.order.warning) {
      let store = a.client.store(for: totals[0])
      let other = situation.isOnBothScreens ? b.client.store(for: totals[1]).subscribe(with: QueryEventHandler()) : nil
      let subscriptions = [store.subscribe(with: QueryEventHandler()), other]
      fleet.advance(by: .seconds(1))
      expect(store.currentValue, equals: 10)
      expect(self.read(totals[1], on: b, in: fleet), equals: 10)
      return (store, subscriptions)
    }

    self.amountOfService.value = 2
    switch situation.change {
    case .set: a.client.store(for: amount).currentValue = 2
    case .invalidated: a.client.invalidate(matching: ["amount", 1])
    case .invalidatedElsewhere: b.client.invalidate(matching: ["amount"])
    case .tagged: a.client.invalidate(tagged: .entity("amount", 1))
    case .taggedElsewhere: b.client.invalidate(tagged: .entity("amount", 1))
    case .reset: a.client.resetStores(matching: ["amount"], rerunning: .all)
    case .everything: b.client.invalidate()
    }
    fleet.advance(by: .seconds(1))
    expect(store.currentValue, equals: 20)
    #expect(!store.isStale)
    // A set value is one of its node. If the source is shared, another node has it when the source runs there: at once
    // where it is pushed to a subscriber.
    let hears = situation.change != .set || (situation.sharing == .pushed && situation.isOnBothScreens)
    expect(self.read(totals[1], on: b, in: fleet), equals: (hears ? 20 : 10))
    if situation.change == .set, situation.sharing != .none {
      _ = fleet.perform { _ = try? await b.client.store(for: amount).fetch() }
      fleet.advance(by: .seconds(1))
      expect(self.read(totals[1], on: b, in: fleet), equals: 20)
    }
    withExtendedLifetime(subscriptions) {}
  }

  @Test(arguments: Order.allCases, [true, false])
  func `A derived value that is set stays on its node`(order: Order, hasRun: Bool) {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let totals = [a, b].map { self.total(of: self.amount(), order, on: $0) }
    expectWarning(order.warning) {
      if hasRun { expect(self.read(totals[0], on: a, in: fleet), equals: 10) }
      a.client.store(for: totals[0]).currentValue = 70
      fleet.advance(by: .seconds(1))
      expect(a.client.store(for: totals[0]).currentValue, equals: 70)
      expect(self.read(totals[1], on: b, in: fleet), equals: 10)
    }
    self.amountOfService.value = 2
    b.client.invalidate(matching: ["amount"])
    fleet.advance(by: .seconds(1))
    expect(self.read(totals[1], on: b, in: fleet), equals: 20)
  }

  @Test(arguments: Order.allCases)
  func `A derived query neither waits for another node nor needs the backend`(order: Order) {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let amount = self.amount(takes: .seconds(2))
    fleet.advance(by: .seconds(1))
    let durations = Log<Duration>()
    let fetch = { (node: Fleet.Node) in
      let start = fleet.clock.elapsed
      let total = self.total(of: amount, order, on: node)
      _ = fleet.perform {
        _ = try? await node.client.store(for: total).fetch()
        durations.append(fleet.clock.elapsed - start)
      }
    }
    expectWarning(order.warning) {
      fetch(a)
      fetch(b)
      fleet.advance(by: .seconds(10))
    }
    expect(durations.all, equals: [.seconds(2), .seconds(2)])
    fleet.backend.isRunning = false
    fleet.advance(by: .seconds(60))
    fetch(a)
    fleet.advance(by: .seconds(10))
    expect(durations.all.count, equals: 3)
    #expect(a.sources.isEmpty)
  }

  /// How a value is read.
  enum Reader: CaseIterable, Sendable {
    case ensureValue, fetch, maximumAge
  }

  @Test(arguments: Reader.allCases, Order.shared)
  func `After an author has returned, no reader of a derived value gets what was made before`(
    reader: Reader,
    order: Order
  ) {
    let network = InMemoryFleet.Network(latency: .milliseconds(3)...(.milliseconds(3)))
    let fleet = Fleet(network: network, settings: FleetSettings(nodeName: "node", heartbeat: .seconds(60)))
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b") { DeafBackend($0) })
    fleet.advance(by: .seconds(1))
    let total = self.total(of: self.amount(), order, on: b)
    let answer = Box<Int?>(nil)
    expectWarning(.unsharedValue) {
      for node in [a, b] { expect(self.read(total, on: node, in: fleet), equals: 10) }
    }
    let amountOfService = self.amountOfService
    _ = fleet.perform {
      amountOfService.value = 2
      await a.client.invalidate(matching: ["amount"]).settled()
      let store = b.client.store(for: total)
      answer.value =
        switch reader {
        case .ensureValue: try? await b.client.ensureValue(for: total)
        case .fetch: try? await store.fetch()
        case .maximumAge: try? await store.value(maximumAge: .seconds(1_000))
        }
    }
    fleet.advance(by: .seconds(5))
    expect(answer.value, equals: 20)
  }
}

/// A query of any type, so that modifiers can be applied in any order.
private struct AnyQuery<Value: Sendable>: QueryRequest {
  private let base: any QueryRequest<Value, any Error> & Sendable

  init(_ base: some QueryRequest<Value, any Error> & Sendable) {
    self.base = base
  }

  var path: OperationPath { self.base.path }

  func setup(context: inout OperationContext) { self.base.setup(context: &context) }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, any Error>
  ) async throws -> Value {
    try await self.base.run(isolation: isolation, in: context, with: continuation)
  }
}
