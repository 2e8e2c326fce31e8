import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Random days of a phone: offline, killed, with a clock that is changed, with a full disk, and a server that fails.
///
/// Each call has a token. However the days go, each token that was accepted has reached the server, was replaced by a
/// later one, is in front of the user, or is still to be sent; and no token is sent twice by one start of the program.
@Suite(.warningsAreIssues) struct PhoneModelTests {
  @Test(arguments: 0..<ModelRuns.count(40)) func `Every accepted call is sent, merged, or in front of the user`(
    seed: Int
  ) async throws {
    let days = PhoneDays(seed: UInt64(seed))
    let reporter: OperationWarning.Reporter = { days.receive($0) }
    await OperationWarning.withReporter(reporter) {
      for _ in 0..<60 { await days.step() }
      await days.end()
    }
    #expect(days.problems == [], "seed \(seed)")
    #expect(days.lost == [], "seed \(seed): \(days.summary)")
    #expect(days.unfinished == [], "seed \(seed): \(days.summary)")
  }
}

extension PhoneModelTests {
  @Test func `The random days have merged calls, expired ones, dead letters, full disks and restarts`() async {
    var seen: Set<String> = []
    for seed in 0..<20 {
      let days = PhoneDays(seed: UInt64(seed))
      let reporter: OperationWarning.Reporter = { days.receive($0) }
      await OperationWarning.withReporter(reporter) {
        for _ in 0..<60 { await days.step() }
        await days.end()
      }
      seen.formUnion(days.seen)
    }
    #expect(seen == ["merged", "journalCallExpired", "journalDeadLetter", "notAccepted", "restarted", "repeated"])
  }
}

/// The phone, its user, and the server, of one seed.
private final class PhoneDays: Sendable {
  struct State: Sendable {
    var random: SeededGenerator
    var lastToken = 0
    var accepted: Set<Int> = []
    /// For calls that replace others: the tokens of each note, in order.
    var settings: [Int: [Int]] = [:]
    var removed: Set<Int> = []
    var reported: Set<String> = []
    var problems: [String] = []
    var seen: Set<String> = []
    var calls: [Task<Void, any Error>] = []
  }

  let state: Locked<State>
  let server: PhoneServer
  let phone: Locked<Phone>

  init(seed: UInt64) {
    self.state = Locked(State(random: SeededGenerator(seed: seed)))
    self.server = PhoneServer(seed: seed &+ 1_000_000)
    self.phone = Locked(
      Phone(
        server: self.server,
        storage: InMemoryStorage(),
        date: Date(timeIntervalSinceReferenceDate: 0),
        generation: 0,
        isOnline: false
      )
    )
  }

  private func random(_ range: Range<Int>) -> Int { self.state.withLock { Int.random(in: range, using: &$0.random) } }

  private var current: Phone { self.phone.withLock { $0 } }

  var problems: [String] { self.state.withLock { $0.problems } + self.server.problems }

  /// What has happened in these days.
  var seen: Set<String> { self.state.withLock { $0.seen }.union(self.server.seen) }

  func receive(_ warning: OperationWarning) {
    switch warning.code {
    case .journalCallExpired, .journalDeadLetter:
      self.state.withLock { state in
        state.reported.insert(warning.message)
        state.seen.insert("\(warning.code)")
      }
    case .storageFailed: break
    default: self.state.withLock { $0.problems.append("\(warning)") }
    }
  }

  // MARK: - Steps

  func step() async {
    let phone = self.current
    let choice = self.random(0..<14)
    switch choice {
    case 0...5: await self.call(phone)
    case 6: phone.clock.advance(by: .seconds(self.random(1..<4_000)))
    case 7: phone.clock.advance(by: .seconds(self.random(1..<40)))
    case 8:
      phone.network.turnOn()
      phone.network.change()
    case 9:
      phone.network.turnOff()
      phone.network.change()
    case 10: await self.restart()
    case 11: phone.storage.setFull(self.random(0..<3) == 0)
    case 12: phone.clock.setDate(phone.clock.now() + Double(self.random(-7_200..<7_200)))
    default: await self.decide(phone)
    }
    await self.current.journal.settled()
  }

  private func call(_ phone: Phone) async {
    let (kind, note) = (self.random(0..<3), self.random(0..<3))
    let token = self.state.withLock { state in
      state.lastToken += 1
      return state.lastToken
    }
    let arguments = Tokens(note: note, tokens: [token])
    let call = Task.immediate { try await phone.call(kind, arguments) }
    if self.random(0..<4) == 0 { call.cancel() }
    // A call that is cancelled while it is being written may still be turned down.
    await phone.journal.settled()
    let isAccepted = phone.storedTokens.contains(token) || self.server.begun.contains(token)
    self.state.withLock { state in
      if isAccepted {
        state.accepted.insert(token)
        if kind == 2 { state.settings[note, default: []].append(token) }
      } else {
        state.seen.insert("notAccepted")
      }
      state.calls.append(call)
    }
  }

  /// The process is killed, and the program is started again.
  private func restart() async {
    let phone = self.current
    let entries = await phone.storage.kill()
    phone.network.turnOff()
    self.server.endGeneration(phone.generation)
    let next = Phone(
      server: self.server,
      storage: InMemoryStorage(entries: entries),
      date: phone.clock.now(),
      generation: phone.generation + 1,
      isOnline: self.random(0..<2) == 0
    )
    self.phone.withLock { $0 = next }
    for call in self.state.withLock({ $0.calls }) { call.cancel() }
    self.state.withLock { state in
      state.calls = []
      state.seen.insert("restarted")
    }
  }

  /// The user looks at what is set aside.
  private func decide(_ phone: Phone) async {
    guard let entry = phone.journal.entries.first(where: { $0.status == .expired || $0.status == .deadLetter }) else {
      return
    }
    if self.random(0..<2) == 0 {
      // Not awaited: the call may wait for the server.
      Task.immediate { await phone.journal.retry(entry.id) }
    } else if await phone.journal.remove(entry.id) {
      self.state.withLock { $0.removed.formUnion(Tokens(entry).tokens) }
    }
  }

  /// Makes everything well, and waits until nothing is left to be sent.
  func end() async {
    self.server.recover()
    self.current.storage.setFull(false)
    await self.restart()
    let phone = self.current
    phone.network.turnOn()
    phone.network.change()
    for _ in 0..<40 {
      await phone.journal.settled()
      phone.clock.advance(by: .seconds(400))
    }
    await phone.journal.settled()
  }

  // MARK: - What is left

  private var aside: [JournalEntry] {
    self.current.journal.entries.filter { $0.status == .expired || $0.status == .deadLetter }
  }

  /// The accepted tokens of which nothing is known any more.
  var lost: [Int] {
    let known = self.server.done.union(self.aside.flatMap { Tokens($0).tokens })
      .union(self.current.journal.entries.flatMap { Tokens($0).tokens })
    let (accepted, removed, settings) = self.state.withLock { ($0.accepted, $0.removed, $0.settings) }
    let replaced = settings.values.flatMap { $0.dropLast() }
    return accepted.subtracting(known).subtracting(removed).subtracting(replaced).sorted()
  }

  /// The calls that are neither sent nor set aside, and those set aside without a report.
  var unfinished: [String] {
    let entries = self.current.journal.entries
    let pending = entries.filter { $0.status != .expired && $0.status != .deadLetter }
    let reports = self.state.withLock { $0.reported }
    let silent = self.aside.filter { entry in !reports.contains { $0.contains("key \(entry.id) ") } }
    return (pending + silent).map(\.description)
  }

  var summary: String {
    "done \(self.server.done.sorted()), accepted \(self.state.withLock { $0.accepted }.sorted()), entries \(self.current.journal.entries)"
  }
}
