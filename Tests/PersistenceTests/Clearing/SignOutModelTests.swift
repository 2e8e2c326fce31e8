import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of several processes over one storage, whose users sign out.
///
/// Values are set, fetched, invalidated, restored and written, the storage fails or loses its answer, and processes begin, and
/// end in the middle of a removal, with the steps of their storages in any order. After a user has signed out nothing of this user is
/// stored, or shown in a process that has heard of it, nothing of the next user is lost, and a removal that its process has not
/// finished is finished by the next one.
@Suite(.bounded, .warningsAreIssues) struct SignOutModelTests {
  @Test func `Nothing of a user who has signed out comes back, and nothing of the next one is lost`() async {
    let seen = Log<String>()
    for seed in ModelRuns.seeds {
      await ModelRuns.check(25, seed: seed) { generator in
        let number = generator.next()
        let schedule = SignOutSchedule(seed: number)
        let reporter: OperationWarning.Reporter = { schedule.receive($0) }
        await OperationWarning.withReporter(reporter) { await schedule.perform() }
        for event in schedule.seen { seen.append(event) }
        let problems = schedule.problems
        return problems.isEmpty ? nil : "the schedule \(number): " + problems.prefix(4).joined(separator: "; ")
      }
    }
    expect(
      Set(seen.all),
      equals: ["signed out", "heard", "refused", "answer lost", "ended while it signed out", "at once", "sealed"]
    )
  }
}

/// The processes of one schedule.
private final class SignOutSchedule: Sendable {
  private let world: SignOutWorld
  private let hasLimits: Bool
  private let processes = Locked<[SignOutProcess]>([])
  private let lastProcess = Counter()

  init(seed: UInt64) {
    self.world = SignOutWorld(seed: seed)
    self.hasLimits = self.world.random(4) == 0
  }

  var problems: [String] { self.world.change { $0.problems } }
  var seen: Set<String> { self.world.change { $0.seen } }

  func receive(_ warning: OperationWarning) {
    switch warning.code {
    case .storageFailed, .valueNotStored: break
    default: self.world.report("\(warning)")
    }
  }

  func perform() async {
    if self.world.isSealed { _ = self.world.change { $0.seen.insert("sealed") } }
    for _ in 0..<3 { await self.start() }
    for _ in 0..<60 where self.problems.isEmpty {
      await self.step()
      await self.world.check(hasLimits: self.hasLimits)
    }
    await self.finish()
  }

  private func start() async {
    let process = SignOutProcess(self.lastProcess.increment(), self.world)
    if self.hasLimits { await process.limit() }
    self.processes.withLock { $0.append(process) }
  }

  private func step() async {
    let processes = self.processes.withLock { $0 }
    let process = processes[self.world.random(processes.count)]
    let number = [0, 1, 2, nil][self.world.random(4)]
    if self.world.random(20) == 0 {
      let work = process.state.withLock { $0.work }
      if work == .signOut { _ = self.world.change { $0.seen.insert("ended while it signed out") } }
      await process.end()
      self.processes.withLock { $0.removeAll { $0 === process } }
      await self.start()
    } else if !process.turns.isOver {
      switch self.world.random(6) {
      case 0 where process.isStill(number): process.set(number)
      case 1 where process.isStill(number): process.invalidate(number)
      default: await process.turns.resume()
      }
    } else if process.state.withLock({ $0.isSigningOut }) {
      await process.signOut()
    } else {
      await self.perform(process, number)
    }
    self.checkShown(process)
  }

  private func perform(_ process: SignOutProcess, _ number: Int?) async {
    switch self.world.random(14) {
    case 0:
      if processes.withLock({ $0.contains { !$0.turns.isOver && $0.state.withLock { $0.work == .signOut } } }) {
        _ = self.world.change { $0.seen.insert("at once") }
      }
      await process.signOut()
    case 1...3: await process.act { $0.set(number) }
    case 4: await process.act { $0.invalidate(number) }
    case 5: process.storage.state.withLock { $0.failures = self.world.random(4) }
    case 6, 7: await process.restore()
    case 8: await process.fetch(number ?? process.state.withLock { $0.user.map { $0 + 3 } } ?? 0)
    case 9: await process.advance(by: .milliseconds(100))
    case 10: await process.advance(by: .seconds(4_000))
    default: await process.flush()
    }
  }

  /// A process that has heard of a removal, or has begun after it, shows nothing of before.
  private func checkShown(_ process: SignOutProcess) {
    guard let user = process.state.withLock({ $0.isSigningOut ? nil : $0.user }) else { return }
    for text in process.shown where (1..<user).contains(SignOutWorld.user(of: text)) {
      self.world.report("\(process.number) shows \(text) although it has heard of the user \(user)")
    }
  }

  /// Ends all processes, and lets one begin that finishes what they have left.
  private func finish() async {
    for process in self.processes.withLock({ $0 }) { await process.end() }
    await self.world.check(hasLimits: self.hasLimits)
    self.processes.withLock { $0 = [] }
    await self.start()
    guard self.problems.isEmpty, let last = self.processes.withLock({ $0.first }) else { return }
    await last.restore()
    while !last.turns.isOver { await last.turns.resume() }
    await self.world.check(hasLimits: self.hasLimits)
    let isOpen = await self.world.entries.contains { $0.key == "epoch/=open" }
    if isOpen { self.world.report("a removal is not finished") }
    await last.end()
  }
}
