import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Random schedules of three and more journals over one storage.
///
/// Calls are accepted, leases are taken, answered late, lost and released, entries are read, calls are sent, refused and
/// ended, users sign out, and processes are suspended, die and begin, with every step of a storage and of the server in any order.
@Suite(.bounded, .warningsAreIssues) struct SharedJournalsTests {
  @Test(arguments: [false, true]) func `One process at a time sends the calls of a scope, in order`(
    writesLate: Bool
  ) async {
    let seen = Log<String>()
    // What one seed misses, another one has: some schedules have none of a kind.
    await withTaskGroup { group in
      for seed in ModelRuns.seeds {
        group.addTask {
          await ModelRuns.check(2, seed: seed) { generator in
            let number = generator.next()
            let schedule = SharedSchedule(seed: number, writesLate: writesLate)
            let reporter: OperationWarning.Reporter = { schedule.receive($0) }
            OperationWarning.withReporter(reporter) { schedule.perform() }
            for event in schedule.seen { seen.append(event) }
            return schedule.problems.isEmpty
              ? nil : "the schedule \(number): " + schedule.problems.prefix(4).joined(separator: "; ")
          }
        }
      }
    }
    let expected: Set = ["made by another process", "repeated", "two processes at once", "signed out"]
    #expect(Set(seen.all).isSuperset(of: expected))
  }
}

/// The processes of one schedule, and what happens to them.
private final class SharedSchedule: Sendable {
  private struct Process: Sendable {
    let client: OperationClient
    let journal: MutationJournal
    let call: @Sendable (Int, Int) -> Void
  }

  private static let scopes: [String?] = ["a", "b", "c", nil]
  private let journals: SharedJournals
  private let processes = Mutex<[Int: Process]>([:])
  private let lastProcess = Mutex(0)

  init(seed: UInt64, writesLate: Bool) {
    self.journals = SharedJournals(seed: seed, writesLate: writesLate)
  }

  var problems: [String] { self.journals.change { $0.problems } }
  var seen: Set<String> { self.journals.change { $0.seen } }

  func receive(_ warning: OperationWarning) {
    // A replay that the server has refused.
    if warning.code == .journalCallFailed { return }
    self.journals.change { $0.problems.append("\(warning)") }
  }

  func perform() {
    for _ in 0..<3 { self.start() }
    for _ in 0..<250 { self.step() }
    self.finish()
    self.end()
  }

  private func step() {
    let alive = self.processes.withLock { $0.keys.sorted() }
    let process = alive.isEmpty ? nil : alive[self.journals.random(alive.count)]
    switch self.journals.random(24) {
    case 0...3: if let process { self.call(from: process) }
    case 4: self.journals.advance(by: [.milliseconds(150), .milliseconds(600), .seconds(2)][self.journals.random(3)])
    case 5: self.journals.advance(by: .milliseconds(20))
    case 6 where self.journals.random(3) == 0:
      if let process { _ = self.journals.change { $0.suspended.insert(process) } }
      // Long enough to be taken for dead, or not.
      if self.journals.random(2) == 0 { self.journals.advance(by: .seconds(6)) }
    case 7: self.journals.change { $0.suspended = [] }
    case 8 where self.journals.random(6) == 0: if let process, alive.count > 1 { self.kill(process) }
    case 9 where alive.count < 3: self.start()
    case 10: if let process { self.resume(process) }
    case 11 where self.journals.random(8) == 0: if let process { self.signOut(process) }
    default: if !self.journals.performStep() { self.journals.advance(by: .milliseconds(50)) }
    }
    self.journals.advance()
  }

  // MARK: - Processes

  private func start() {
    let number = self.lastProcess.withLock { number in
      number += 1
      return number
    }
    _ = self.journals.change { $0.ungated.insert(number) }
    var context = OperationContext()
    context.operationDeadlines = self.journals.clock
    context.operationTaskConfiguration.executorPreference = self.journals.executor
    let client = OperationClient(defaultContext: context, storeCache: KeepingCache())
    let counter = KeyCounter()
    let journal = MutationJournal(
      storage: SteppedStorage(self.journals, number),
      resumes: .manually,
      attemptsBeforeDeadLetter: 10_000,
      makeKey: { "p\(number)k\(counter.next())" }
    )
    client.journal = journal
    let calls = Self.scopes.map { scope -> @Sendable (Int) -> Void in
      let send = SteppedSend(journals: self.journals, process: number, path: ["send", scope ?? ""])
      let name = "send-\(scope ?? "")"
      func call(_ mutation: some MutationRequest<Int, Void, any Error>) -> @Sendable (Int) -> Void {
        journal.register(mutation, as: name)
        let store = client.store(for: mutation)
        return { [executor = self.journals.executor] token in
          Task(executorPreference: executor) { try? await store.mutate(with: token) }
        }
      }
      guard let scope else { return call(send.journaled(as: name, failsForGood: .where { _ in false })) }
      return call(send.scope(scope).journaled(as: name, failsForGood: .where { _ in false }))
    }
    _ = self.journals.change { $0.ungated.remove(number) }
    let process = Process(client: client, journal: journal) { index, token in calls[index](token) }
    self.processes.withLock { $0[number] = process }
    self.resume(number)
    self.journals.advance()
  }

  private func call(from number: Int) {
    guard let process = self.processes.withLock({ $0[number] }) else { return }
    let index = self.journals.random(Self.scopes.count)
    let token = self.journals.change { state -> Int? in
      if state.suspended.contains(number) { return nil }
      state.lastToken += 1
      state.callers[state.lastToken] = SharedJournals.Caller(process: number, scope: Self.scopes[index])
      return state.lastToken
    }
    if let token { process.call(index, token) }
  }

  private func resume(_ number: Int) {
    guard let journal = self.processes.withLock({ $0[number]?.journal }) else { return }
    Task(executorPreference: self.journals.executor) { await journal.resume() }
  }

  private func signOut(_ number: Int) {
    // One at a time, as a client does.
    guard let journal = self.processes.withLock({ $0[number]?.journal }),
      let calls = self.journals.beginSigningOut(number)
    else { return }
    Task(executorPreference: self.journals.executor) { [journals = self.journals] in
      journals.endSigningOut(number, of: calls, isComplete: await journal.removeAll())
    }
  }

  private func kill(_ number: Int) {
    self.journals.kill(number)
    let process = self.processes.withLock { $0.removeValue(forKey: number) }
    _ = process
  }

  // MARK: - The end

  /// Lets all that was accepted arrive.
  private func finish() {
    self.journals.change { $0.suspended = [] }
    if self.processes.withLock({ $0.isEmpty }) { self.start() }
    for round in 0..<4_000 {
      if round.isMultiple(of: 40) {
        for number in self.processes.withLock({ $0.keys.sorted() }) { self.resume(number) }
        self.journals.advance()
      }
      while self.journals.performStep() {}
      if self.journals.change({ $0.accepted.isSubset(of: $0.removed) && $0.open.isEmpty && $0.steps.isEmpty }) { break }
      self.journals.advance(by: .milliseconds(50))
    }
    self.journals.change { state in
      let lost = state.accepted.subtracting(state.arrived).subtracting(state.discarded)
      if !lost.isEmpty { state.problems.append("the calls \(lost.sorted()) have not arrived") }
      let left = state.accepted.subtracting(state.removed)
      if !left.isEmpty { state.problems.append("the calls \(left.sorted()) have not ended") }
    }
  }

  /// Ends the tasks of the processes, which nothing holds any more.
  private func end() {
    for number in self.processes.withLock({ $0.keys.sorted() }) { self.kill(number) }
    self.journals.advance(by: .seconds(120))
  }
}
