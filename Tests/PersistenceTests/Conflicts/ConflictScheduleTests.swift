import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// A conflict in one process and a retry by hand in another one, with the steps of their storages in every order.
@Suite(.bounded) struct ConflictScheduleTests {
  /// The attempts of a call with long arguments are stored apart from it.
  private static let cases = ModelRuns.part(of: [(true, 1_100), (true, 1), (false, 1), (false, 1_100)], every: 2)

  @Test(arguments: Self.cases) func `Only what is stored is sent, and earlier arguments never come back`(
    keepsArguments: Bool,
    repeating count: Int
  ) {
    var choices: [Int]? = []
    while let next = choices {
      let text = String(repeating: "mine", count: count)
      let schedule = ConflictSchedule(next, keepsArguments: keepsArguments, text: text)
      // A replay that the server has refused, and a write that fails.
      let reporter: OperationWarning.Reporter = { _ in }
      OperationWarning.withReporter(reporter) { schedule.perform() }
      let problems = schedule.problems
      #expect(problems.isEmpty, "the schedule \(schedule.taken): \(problems.joined(separator: "; "))")
      choices = problems.isEmpty ? schedule.nextChoices : nil
    }
  }
}

/// One order of the steps.
private final class ConflictSchedule: Sendable {
  private struct Step: Sendable {
    let isWrite: Bool
    /// Continues with whether the step is made, rather than made fail.
    let continuation: UnsafeContinuation<Bool, Never>
  }

  private struct State: Sendable {
    var isGated = false
    var steps: [Step] = []
    /// How many more writes, or answers to them, may be lost.
    var failures = ModelRuns.isThorough ? 1 : 0
    /// The number of ways to go on at each choice, and the one that was chosen.
    var options: [Int] = []
    var taken: [Int] = []
    var revisions: [String: Int] = [:]
    var hasConflict = false
    /// How many requests with the new version have come, and the keys of those that were done.
    var newCount = 0
    var done: Set<String?> = []
    var isRetryEnded = false
    var problems: [String] = []
  }

  /// What the entry of a call says of its request.
  private struct Entry: Decodable {
    let id: String
    let arguments: String
    let base: String?
    let revision: Int?

    var key: String { self.revision.map { "\(self.id)~\($0)" } ?? self.id }
  }

  private let choices: [Int]
  private let keepsArguments: Bool
  private let text: String
  private let clock = EventClock()
  private let executor = SteppedExecutor()
  fileprivate let base: InMemoryStorage
  private let state = Mutex(State())

  init(_ choices: [Int], keepsArguments: Bool, text: String) {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
    self.choices = choices
    self.keepsArguments = keepsArguments
    self.text = text
  }

  var taken: [Int] { self.state.withLock { $0.taken } }
  var problems: [String] { self.state.withLock { $0.problems } }

  /// The choices of the next schedule; nil after the last one.
  var nextChoices: [Int]? {
    var (taken, options) = self.state.withLock { ($0.taken, $0.options) }
    while let last = taken.popLast() {
      if last + 1 < options[taken.count] { return taken + [last + 1] }
    }
    return nil
  }

  func perform() {
    let a = self.start("a")
    a.save()
    self.executor.runAll()
    let b = self.start("b")
    defer { withExtendedLifetime((a, b)) {} }
    self.run { try? await b.journal.load() }
    self.state.withLock { $0.isGated = true }
    self.run {
      await b.journal.retry("a1")
      self.state.withLock { $0.isRetryEnded = true }
    }
    while self.performStep() {}
    self.state.withLock { $0.isGated = false }
    self.finish([a.journal, b.journal])
  }

  private func run(_ body: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self.executor) { await body() }
    self.executor.runAll()
  }

  /// Performs the step of the next choice. Returns false if there is none.
  private func performStep() -> Bool {
    let chosen = self.state.withLock { state -> (step: Step, isMade: Bool)? in
      if state.steps.isEmpty { return nil }
      let failing = state.failures > 0 ? state.steps.indices.filter { state.steps[$0].isWrite } : []
      let number = state.taken.count
      let choice = number < self.choices.count ? self.choices[number] : 0
      state.options.append(state.steps.count + failing.count)
      state.taken.append(choice)
      if choice < state.steps.count { return (state.steps.remove(at: choice), true) }
      state.failures -= 1
      return (state.steps.remove(at: failing[choice - state.steps.count]), false)
    }
    chosen?.step.continuation.resume(returning: chosen?.isMade == true)
    self.executor.runAll()
    return chosen != nil
  }

  /// Makes what is left, until the call has been done and both processes know it.
  private func finish(_ journals: [MutationJournal]) {
    for _ in 0..<40 {
      if self.state.withLock({ $0.isRetryEnded && !$0.done.isEmpty }), journals.allSatisfy(\.entries.isEmpty) { break }
      for journal in journals { self.run { await journal.resume() } }
      let end = self.clock.elapsed + .milliseconds(500)
      while self.clock.advance(upTo: end) { self.executor.runAll() }
      self.executor.runAll()
    }
    self.run {
      for journal in journals { await journal.flush() }
      let keys = (try? await self.base.keys("journal/")) ?? []
      self.state.withLock { state in
        if !keys.isEmpty || !state.isRetryEnded { state.problems.append("the call has not ended") }
        if state.done != ["a1~1"] { state.problems.append("done was \(state.done)") }
      }
    }
  }

  // MARK: - Processes

  private struct Process: Sendable {
    let client: OperationClient
    let journal: MutationJournal
    let save: @Sendable () -> Void
  }

  private func start(_ prefix: String) -> Process {
    var context = OperationContext()
    context.operationDeadlines = self.clock
    context.operationTaskConfiguration.executorPreference = self.executor
    let client = OperationClient(defaultContext: context, storeCache: KeepingCache())
    let counter = KeyCounter()
    let journal = MutationJournal(
      storage: ScheduledStorage(self, isFirst: prefix == "a"),
      resumes: .manually,
      attemptsBeforeDeadLetter: 100,
      makeKey: { "\(prefix)\(counter.next())" }
    )
    client.journal = journal
    let save = ScheduledSave(schedule: self)
      .resolvesConflicts(of: NoteConflict.self) { [keepsArguments = self.keepsArguments] call, current in
        let arguments = keepsArguments ? call.arguments : "\(current.text)+\(call.arguments)"
        return .retry(with: arguments, basedOn: "\(current.version)")
      }
      .scope("s").journaled(as: "save", failsForGood: .where { _ in false })
    journal.register(save, as: "save")
    let store = client.store(for: save)
    return Process(client: client, journal: journal) { [executor = self.executor, text = self.text] in
      Task(executorPreference: executor) {
        var context = OperationContext()
        context.operationBaseVersion = "1"
        try? await store.mutate(with: text, using: context)
      }
    }
  }

  /// Waits for the schedule, once it has begun. Returns whether the step is made.
  fileprivate func passWrite() async -> Bool {
    self.state.withLock { $0.isGated } ? await self.pass(isWrite: true) : true
  }

  private func pass(isWrite: Bool) async -> Bool {
    await withUnsafeContinuation { continuation in
      self.state.withLock { $0.steps.append(Step(isWrite: isWrite, continuation: continuation)) }
    }
  }

  fileprivate func receive(_ text: String, key: String?, base: String?) async throws {
    let entries = try await self.base.entries(withPrefix: "journal/")
    let stored = entries.compactMap { try? JSONDecoder().decode(Entry.self, from: Data($0.value)) }.first
    let arguments = try stored.map { try JSONDecoder().decode(String.self, from: Data($0.arguments.utf8)) }
    let isFirst = self.state.withLock { state in
      defer { state.hasConflict = true }
      if stored?.key != key || arguments != text || stored?.base != base {
        state.problems.append("sent \(key ?? "") based on \(base ?? ""), stored is \(stored?.key ?? "nothing")")
      }
      return !state.hasConflict
    }
    if isFirst { _ = await self.pass(isWrite: false) }
    if base != "2" { throw NoteConflict(current: ServerNote(text: "theirs", version: 2)) }
    // The first request with the new version does not get through.
    let isDone = self.state.withLock { state in
      state.newCount += 1
      if state.newCount > 1 { state.done.insert(key) }
      return state.newCount > 1
    }
    if !isDone { throw Refused() }
  }

  /// Checks what was stored.
  fileprivate func note(_ batch: [StorageChange]) {
    for case .put(let key, let value) in batch {
      guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(value)) else { continue }
      self.state.withLock { state in
        let revision = entry.revision ?? 0
        if revision < state.revisions[key] ?? 0 { state.problems.append("the revision \(revision) is stored again") }
        state.revisions[key] = revision
      }
    }
  }
}

/// The storage as one process sees it, whose steps wait for the schedule.
private final class ScheduledStorage: LeasingStorage {
  private let schedule: ConflictSchedule
  private let isFirst: Bool

  init(_ schedule: ConflictSchedule, isFirst: Bool) {
    self.schedule = schedule
    self.isFirst = isFirst
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.schedule.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    guard await self.schedule.passWrite() else { throw Broken() }
    let outcome = try await self.schedule.base.apply(batch, if: conditions)
    if outcome == .made { self.schedule.note(batch) }
    // When the other process hears of its write makes no difference to the first one.
    guard self.isFirst, await !self.schedule.passWrite() else { return outcome }
    throw Broken()
  }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    try await self.schedule.base.acquireLease(name, owner: owner, for: duration)
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    try await self.schedule.base.releaseLease(name, owner: owner)
  }

  nonisolated(nonsending) func close() async {}
}

/// Sends a note to the server of the schedule.
private struct ScheduledSave: MutationRequest {
  let schedule: ConflictSchedule
  let path: OperationPath = ["save"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: String,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.schedule.receive(
      arguments,
      key: context.operationIdempotencyKey,
      base: context.operationBaseVersion
    )
  }
}
