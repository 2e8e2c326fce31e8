import Foundation
import Operation
import OperationTesting
import TestFixtures

/// A random schedule of what happens with some stores, whose explanations are compared with what follows.
final class ExplanationSchedule {
  private var generator: SeededGenerator
  let clock = EventClock()
  private let executor = SteppedExecutor()
  private let client: OperationClient
  private let items: [ExplainedItem]
  /// What polling, staleness and automatic runs of some items depend on, and what the runs of some wait for.
  private let (isOn, mayRun) = (SwitchSpecification(true), SwitchSpecification(true))
  private let failing = Box<Set<Int>>([])
  /// The newest store of each item, and earlier ones that somebody has kept.
  private var stores: [TrackedStore] = []
  private var fetches: [Task<Void, Never>] = []
  private var log: [String] = []

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.items = (0..<3).map { ExplainedItem($0, using: &generator) }
    var context = OperationContext()
    let time = SkewedTime(of: self.clock, rate: 1, offset: 0)
    context.operationDeadlines = time
    context.operationClock = time
    context.operationDelayer = EventDelayer(clock: self.clock)
    context.operationTaskConfiguration.executorPreference = self.executor
    self.client =
      Bool.random(using: &generator)
      ? OperationClient(defaultContext: context, storeCreator: OperationClient.PlainStoreCreator())
      : OperationClient(
        defaultContext: context,
        storeCreator: .default(
          retryLimit: Int.random(in: 0...2, using: &generator),
          backoff: .constant(.microseconds(Int.random(in: 300_000...1_000_000, using: &generator))),
          networkObserver: nil,
          activityObserver: nil,
          retryBudget: nil
        )
      )
    self.generator = generator
  }

  private func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self.generator) }

  /// Performs the schedule. Returns the first sentence that was not true, with what was done; nil if all were.
  func failure() -> String? {
    for _ in 0..<12 {
      if let failure = self.step() ?? self.advance(by: .microseconds(self.random(3_000_000))) {
        let text =
          "\(failure); \(self.items.map(\.text).joined(separator: "; ")); after \(self.log.joined(separator: ", "))"
        self.end()
        return text
      }
    }
    self.end()
    return nil
  }

  private func end() {
    for fetch in self.fetches { fetch.cancel() }
    for tracked in self.stores { tracked.subscriptions = [] }
    self.executor.runAll()
  }

  func settle() { self.executor.runAll() }

  var tracked: [TrackedStore] { self.stores }

  var mayAllRun: Bool { self.mayRun.isSatisfied(in: OperationContext()) }

  func isInClient(_ tracked: TrackedStore) -> Bool { self.isKept(tracked) }

  private func note(_ text: String) { self.log.append("\(self.clock.elapsed / .milliseconds(1)): \(text)") }

  // MARK: - Stores

  private func query(_ item: ExplainedItem) -> ExplainedQuery {
    let work = QueryOperation<Int, any Error>("items", item.number % 2, item.number, operationName: "GetItem") {
      [clock, failing] _, _, context, continuation in
      if item.yieldsFirst { continuation.yield(with: .success(1)) }
      if item.work > .zero { try await clock.sleep(for: item.work) }
      if failing.value.contains(item.number) {
        throw item.number == 1 ? ComeBack(retryAfter: .milliseconds(777)) as any Error : Refused(code: item.number)
      }
      return Int(clock.elapsed / .microseconds(1))
    }
    return item.modified(work, isOn: self.isOn, mayRun: self.mayRun)
  }

  private func store(_ item: ExplainedItem) -> TrackedStore {
    func opened(_ query: some QueryRequest<Int, any Error> & Sendable) -> ExplainedStore {
      self.client.store(for: query)
    }
    let store = opened(self.query(item))
    let reference = OpaqueOperationStore(erasing: store).reference
    if let known = self.stores.first(where: { $0.reference === reference }) { return known }
    self.stores.removeAll { $0.reference.store == nil }
    let tracked = TrackedStore(item, store, self.clock)
    self.stores.append(tracked)
    self.executor.runAll()
    return tracked
  }

  private func typed(_ tracked: TrackedStore) -> ExplainedStore? {
    tracked.store?.base as? ExplainedStore
  }

  /// Whether the client has the store at its path.
  private func isKept(_ tracked: TrackedStore) -> Bool {
    self.client.stores(matching: [])[tracked.item.path]?.reference === tracked.reference
  }

  // MARK: - Steps

  private func step() -> String? {
    let item = self.items[self.random(self.items.count)]
    let tracked = self.random(6) == 0 ? self.stores.randomElement(using: &self.generator) : nil
    switch self.random(16) {
    case 0, 1, 2: return self.subscribe(tracked ?? self.store(item))
    case 3: self.unsubscribe()
    case 4, 5: self.fetch(tracked ?? self.store(item))
    case 6: return self.ensureValue(of: item)
    case 7, 8: return self.invalidate(item)
    case 9:
      self.note("set \(item.number)")
      self.typed(self.store(item))?.currentValue = self.random(10)
    case 10:
      self.note("\(item.number) fails, or no longer")
      var failing = self.failing.value
      if failing.remove(item.number) == nil { failing.insert(item.number) }
      self.failing.value = failing
    case 11: return self.turn(self.isOn, "the condition")
    case 12: return self.turn(self.mayRun, "what runs wait for")
    case 13:
      self.note("clear \(item.number)")
      let tracked = self.store(item)
      tracked.owner = self.random(2) == 0 ? nil : self.typed(tracked)
      tracked.isRemoved = true
      // Its subscriptions have ended.
      tracked.subscriptions = []
      self.client.clearStore(with: item.path)
    case 14:
      self.note("reset \(item.number)")
      self.typed(self.store(item))?.resetState()
    default:
      if self.random(2) == 0 {
        self.note("an error for \(item.number)")
        self.typed(self.store(item))?.setResult(to: .failure(Refused(code: 7)))
      } else {
        self.note("cancel a fetch")
        if !self.fetches.isEmpty { self.fetches.remove(at: self.random(self.fetches.count)).cancel() }
      }
    }
    self.executor.runAll()
    return nil
  }

  private func unsubscribe() {
    guard let tracked = self.stores.filter({ !$0.subscriptions.isEmpty }).randomElement(using: &self.generator) else {
      return
    }
    self.note("unsubscribe \(tracked.item.number)")
    tracked.subscriptions.removeLast()
  }

  private func fetch(_ tracked: TrackedStore) {
    guard let store = self.typed(tracked) else { return }
    self.note("fetch \(tracked.item.number)")
    let task = Task(executorPreference: self.executor) {
      _ = try? await store.fetch()
    }
    self.fetches.append(task)
  }

  /// A subscriber gets a run, unless the value is fresh, or the store says why not.
  private func subscribe(_ tracked: TrackedStore) -> String? {
    guard let store = self.typed(tracked) else { return nil }
    self.note("subscribe \(tracked.item.number)")
    let (before, began) = (store.explain(), tracked.recorder.began)
    let isRunning = before.runs.contains { $0.isCurrent }
    let subscription = store.subscribe(with: QueryEventHandler())
    // The subscription of a removed store ends at once.
    if !tracked.isRemoved { tracked.subscriptions.append(subscription) }
    let reserved = store.inspect().runs.contains { $0.phase == .reserved }
    self.executor.runAll()
    let hasRun = tracked.recorder.began > began || reserved
    let expected = before.staleness?.isStale == true && before.automaticRunObstacle == nil
    if hasRun, !expected { return "a subscriber got a run, though \(before)" }
    // A run under way is shared. One that no longer counts is followed by another one.
    if !hasRun, expected, !isRunning, store.inspect().runs.isEmpty {
      return "a subscriber got no run, though \(before)"
    }
    return nil
  }

  /// A fresh value is returned without a run, and a stale one is not.
  private func ensureValue(of item: ExplainedItem) -> String? {
    self.note("ensure \(item.number)")
    let tracked = self.store(item)
    guard let store = self.typed(tracked) else { return nil }
    let (before, began) = (store.explain(), tracked.recorder.began)
    let client = self.client
    let isDone = Box(false)
    let query = self.query(item)
    func ensure(_ query: some QueryRequest<Int, any Error> & Sendable) -> Task<Void, Never> {
      Task(executorPreference: self.executor) {
        _ = try? await client.ensureValue(for: query)
        isDone.value = true
      }
    }
    self.fetches.append(ensure(query))
    self.executor.runAll()
    let hasRun = tracked.recorder.began > began
    let isFresh = before.staleness?.isStale == false && before.value?.typeAndSize != nil
    if isFresh, hasRun || !isDone.value { return "a fresh value was not returned at once, though \(before)" }
    if !isFresh, !hasRun, before.runs.isEmpty { return "a stale value was returned, though \(before)" }
    return nil
  }

  /// An invalidated store is stale because of that, and runs for its subscribers.
  private func invalidate(_ item: ExplainedItem) -> String? {
    let prefix = OperationPath(item.path.prefix(self.random(4)))
    self.note("invalidate \(item.path.prefix(prefix.count).map(\.description))")
    let matching = self.stores.filter { self.isKept($0) && $0.item.path.prefix(prefix.count).elementsEqual(prefix) }
    let before = matching.map { ($0, $0.store?.explain(), $0.recorder.began) }
    self.client.invalidate(matching: prefix)
    for (tracked, explanation, _) in before {
      guard let explanation, let now = tracked.store?.explain() else { continue }
      let isRerun = explanation.promisesReruns
      let hasRun =
        now.runs.contains { $0.isFollowed } || tracked.store?.inspect().runs.contains { $0.isCurrent } == true
      if isRerun, !hasRun, tracked.recorder.began == 0 { return "an invalidated store did not run: \(explanation)" }
      guard case .invalidated? = now.staleness?.reason else {
        if hasRun || now.staleness?.reason == .neverRefreshed { continue }
        return "an invalidated store says: \(now)"
      }
    }
    self.executor.runAll()
    for (tracked, explanation, began) in before {
      guard let explanation, let now = tracked.store?.explain() else { continue }
      let isRerun = explanation.promisesReruns
      let hasRun = tracked.recorder.began > began
      if isRerun, !hasRun, now.runs.isEmpty { return "an invalidated store did not run: \(explanation)" }
      if !isRerun, hasRun { return "an invalidated store ran, though \(explanation)" }
    }
    return nil
  }

  /// What waits for the condition, and says so, goes on when it comes true.
  private func turn(_ condition: SwitchSpecification, _ name: String) -> String? {
    let isOn = !condition.isSatisfied(in: OperationContext())
    self.note("\(name) is \(isOn ? "true" : "false")")
    let before = self.stores.compactMap { tracked in
      tracked.store.map { (tracked, $0.explain(), tracked.recorder.began) }
    }
    condition.set(isOn)
    self.executor.runAll()
    for (tracked, explanation, began) in before {
      guard let now = tracked.store?.explain() else { continue }
      if condition === self.mayRun {
        if isOn, now.runs.contains(where: { $0.pause != nil }) { return "a run still waits: \(now)" }
        continue
      }
      let waited = explanation.automaticRunObstacle?.contains("until") == true
      let hasRun = tracked.recorder.began > began
      let isDue = isOn && waited && !explanation.subscribers.isEmpty && explanation.runs.isEmpty
      // The condition may be the one that makes the value stale.
      if isDue, tracked.item.staleness != .byCondition, explanation.staleness?.isStale == true, !hasRun {
        return "the condition has come true, and no run began: \(explanation)"
      }
      if hasRun, !waited || explanation.subscribers.isEmpty, tracked.item.staleness != .byCondition {
        return "a run began with the condition, though \(explanation)"
      }
    }
    return nil
  }
}

/// Delays by the clock of the model.
private struct EventDelayer: OperationDelayer {
  let clock: EventClock

  func delay(for duration: OperationDuration) async throws { try await self.clock.sleep(for: duration) }
}

extension OperationExplanation {
  /// Whether an invalidation runs the operation for its subscribers.
  fileprivate var promisesReruns: Bool {
    if self.subscribers.isEmpty { return false }
    return self.automaticRunObstacle.map { $0.hasPrefix("A new subscriber does not run it") } ?? true
  }
}
