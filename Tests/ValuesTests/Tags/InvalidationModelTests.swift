import OperationCore
import OperationPersistence
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Random invalidations of values that come from everywhere: of runs under way, of yields that are taken back, from a
/// storage, from the last start of the program, handed over, set.
///
/// The values say when the service was read, and the test knows the real order of everything. It knows no epochs.
@Suite(.bounded, .warningsAreIssues) struct InvalidationModelTests {
  private static let items = 0..<4
  private static let tags = 0..<3

  /// What a run has read.
  private struct Reading: Codable, Equatable, Sendable {
    /// When the service was read.
    let time: Int
    let tag: Int
  }

  private typealias ReadingStore = OperationStore<QueryState<Reading, any Error>>

  /// A run under way, which has read the service.
  private struct Call: Sendable {
    let gate: Gate
    let task: Task<Reading, any Error>
  }

  /// The service, the real order, and the program as it is now.
  private final class World: Sendable {
    struct State: Sendable {
      var time = 0
      var tagOfItem = [Int](repeating: 0, count: InvalidationModelTests.items.count)
      var lastOfItem = [Int](repeating: 0, count: InvalidationModelTests.items.count)
      var lastOfTag = [Int](repeating: 0, count: InvalidationModelTests.tags.count)
      /// The gate that the next run waits at, and whether it yields before that.
      var nextGate: (gate: Gate, yields: Bool)?
      var storage = InMemoryStorage()
      var client = OperationClient()
    }

    let state = Locked(State())

    func tick() -> Int {
      self.state.withLock { state in
        state.time += 1
        return state.time
      }
    }

    var client: OperationClient { self.state.withLock { $0.client } }

    func read(_ item: Int) -> Reading {
      let time = self.tick()
      return Reading(time: time, tag: self.state.withLock { $0.tagOfItem[item] })
    }

    /// The last invalidation that concerns a value.
    func lastInvalidation(of item: Int, _ value: Reading) -> Int {
      self.state.withLock { max($0.lastOfItem[item], $0.lastOfTag[value.tag]) }
    }

    func store(_ item: Int) -> ReadingStore {
      let query = QueryOperation<Reading, any Error>("items", item) { [self] (_, continuation) in
        let reading = self.read(item)
        let next = self.state.withLock { state in
          defer { state.nextGate = nil }
          return state.nextGate
        }
        if let next {
          if next.yields { continuation.yield(reading) }
          try await next.gate.wait()
        }
        return reading
      }
      .tagged { reading in [.entity("tag", reading.tag)] }
      .stale(after: .seconds(1_000_000))
      .persisted(as: "item")
      .hydratable(as: "item")
      .disableAutomaticRunning()
      return self.client.store(for: query)
    }

    func start() {
      let storage = self.state.withLock { $0.storage }
      let client = OperationClient()
      client.defaultContext.operationStorage = storage
      self.state.withLock { state, released in
        released.append(state.client)
        state.client = client
      }
    }
  }

  @Test(arguments: 0..<UInt64(ModelRuns.count(40, parts: 40)))
  func `No value is fresh after an invalidation that its run has not seen, and one that has is fresh`(
    seed: UInt64
  )
    async throws
  {
    var generator = SeededGenerator(seed: seed)
    let world = World()
    world.start()
    var calls: [Call] = []
    var page = DehydratedValues()
    for step in 0..<60 {
      let item = Self.items.randomElement(using: &generator) ?? 0
      let store = { world.store(item) }
      switch Int.random(in: 0..<14, using: &generator) {
      case 0, 1:
        let begun = world.tick()
        let value = try await store().fetch()
        // A run from before may end later; this one has seen all.
        if store().currentValue == value, value.time > begun {
          #expect(!store().isStale, "step \(step): \(store().staleness)")
        }
      case 2, 3:
        let gate = Gate()
        let yields = Bool.random(using: &generator)
        world.state.withLock { $0.nextGate = (gate, yields) }
        let store = store()
        let task = Task.immediate { try await store.fetch() }
        try await gate.arrivals(count: 1)
        calls.append(Call(gate: gate, task: task))
      case 4, 5:
        guard let index = calls.indices.randomElement(using: &generator) else { continue }
        let call = calls.remove(at: index)
        if Bool.random(using: &generator) { call.task.cancel() }
        call.gate.open()
        _ = try? await call.task.value
      case 6:
        world.state.withLock { $0.lastOfItem[item] = $0.time }
        world.client.invalidate(matching: ["items", item])
      case 7:
        let tag = Self.tags.randomElement(using: &generator) ?? 0
        world.state.withLock { $0.lastOfTag[tag] = $0.time }
        world.client.invalidate(tagged: .entity("tag", tag))
      case 8 where Int.random(in: 0..<3, using: &generator) == 0:
        world.state.withLock { state in
          for item in Self.items { state.lastOfItem[item] = state.time }
        }
        world.client.invalidate()
      case 9: world.client.clearStores(matching: ["items", item])
      case 10:
        let reading = world.read(item)
        store().currentValue = reading
        #expect(!store().isStale, "step \(step)")
      case 11:
        let tag = Self.tags.randomElement(using: &generator) ?? 0
        world.state.withLock { $0.tagOfItem[item] = tag }
      case 12:
        if Bool.random(using: &generator) { page = world.client.dehydrate() } else { world.client.hydrate(page) }
      default:
        guard Int.random(in: 0..<3, using: &generator) == 0 else { continue }
        // The next start finds what was written. Runs end with the process.
        for call in calls {
          call.task.cancel()
          call.gate.open()
          _ = try? await call.task.value
        }
        calls = []
        await world.client.flush()
        let (storage, next) = (world.state.withLock { $0.storage }, InMemoryStorage())
        try await next.apply(storage.entries(withPrefix: "").map { .put(key: $0.key, value: $0.value) })
        world.state.withLock { $0.storage = next }
        world.start()
        page = DehydratedValues()
      }
      // Looking makes the store: not always, so that values are invalidated that have none.
      for item in Self.items where Int.random(in: 0..<3, using: &generator) == 0 {
        let store = world.store(item)
        guard let value = store.currentValue, !store.isStale else { continue }
        let last = world.lastInvalidation(of: item, value)
        #expect(value.time > last, "step \(step): item \(item) was read at \(value.time), and invalidated at \(last)")
      }
    }
    for call in calls {
      call.gate.open()
      _ = try? await call.task.value
    }
  }
}
