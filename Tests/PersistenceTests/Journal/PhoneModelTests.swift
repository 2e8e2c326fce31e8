import FoundationEssentials
import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Random days of a phone: offline, killed, with a clock that is changed, updated and downgraded, with a full disk, a
/// server that fails, other devices that change the same notes, and a user who signs out.
///
/// Each call has a token. However the days go, each token that was accepted has reached the server, was replaced by a
/// later one, is in front of the user, was given up by the user, or is still to be sent; no token is sent twice by one
/// start of the program; and no screen shows a call that was removed, or anything of a user who has signed out.
@Suite(.bounded, .warningsAreIssues) struct PhoneModelTests {
  @Test func `Every accepted call is sent, merged, or in front of the user, in days that have everything`() async {
    var seen: Set<String> = []
    for seed in 0..<40 { seen.formUnion(await self.check(seed)) }
    expect(
      seen,
      equals: [
        "merged", "journalCallExpired", "journalDeadLetter", "notAccepted", "restarted", "repeated", "updated",
        "downgraded", "journalNameUnregistered", "merged a conflict", "discarded a conflict", "asked", "held the scope",
        "decided", "signed out", "signing out failed", "no room to store", "no room to remove", "clock set back",
        "clock set forward", "screen", "screen after a restart", "storedVersionUnknown",
      ]
    )
  }

  @Test(arguments: 40..<ModelRuns.count(41))
  func `Every accepted call is sent, merged, or in front of the user, in other days`(seed: Int) async {
    await self.check(seed)
  }

  /// Checks the days of a seed, and returns what has happened in them.
  @discardableResult
  private func check(_ seed: Int) async -> Set<String> {
    let days = PhoneDays(seed: UInt64(seed))
    let reporter: OperationWarning.Reporter = { days.receive($0) }
    await OperationWarning.withReporter(reporter) {
      for _ in 0..<60 { await days.step() }
      await days.end()
    }
    expect(days.problems, equals: [], "seed \(seed)")
    expect(days.lost, equals: [], "seed \(seed): \(days.summary)")
    expect(days.unfinished, equals: [], "seed \(seed): \(days.summary)")
    return days.seen
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
    /// The identifiers of the calls that this start of the program has removed.
    var signedOut: Set<String> = []
    var reported: Set<String> = []
    var problems: [String] = []
    var seen: Set<String> = []
    var calls: [Task<Void, any Error>] = []
    /// The earlier starts of the program. A process that is killed releases nothing, so what it has begun has a client.
    var killed: [Phone] = []
    /// The user who is signed in, and the one of each token.
    var user = 1
    var owners: [Int: Int] = [:]
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
        isOnline: false,
        version: 1,
        resolve: { _, _ in .ask }
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
    // A program that was downgraded finds calls of names that it does not know.
    case .journalNameUnregistered where warning.message.contains("\"edit-page\""):
      self.state.withLock { _ = $0.seen.insert("\(warning.code)") }
    // It also finds a screen of the later version, which it does not show.
    case .storedVersionUnknown where warning.message.contains("asks for 1"):
      self.state.withLock { _ = $0.seen.insert("\(warning.code)") }
    default: self.state.withLock { $0.problems.append("\(warning)") }
    }
  }

  // MARK: - Steps

  func step() async {
    let phone = self.current
    let choice = self.random(0..<19)
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
    case 11: phone.storage.setRoom([.everything, .everything, .removals, .nothing][self.random(0..<4)])
    case 12: if self.random(0..<6) == 0 { await self.signOut(phone) }
    case 13: self.server.change(self.random(0..<3))
    case 14:
      let seconds = self.random(-7_200..<7_200)
      phone.clock.setDate(phone.clock.now() + Double(seconds))
      self.state.withLock { _ = $0.seen.insert(seconds < 0 ? "clock set back" : "clock set forward") }
    case 15: self.fetchScreen(phone)
    case 16: _ = await phone.client.persistence.flush()
    default: await self.decide(phone)
    }
    await self.current.journal.settled()
    self.checkScreens(of: self.current)
  }

  /// Looks for what was removed, and for what belongs to a user who has signed out.
  private func checkScreens(of phone: Phone) {
    let (shown, screen, refused) = (phone.shown, phone.screen.currentValue, phone.storage.seen)
    self.state.withLock { state in
      state.seen.formUnion(refused)
      let removed = state.signedOut.intersection(shown)
      if !removed.isEmpty { state.problems.append("A store shows \(removed), which were removed.") }
      guard let screen else { return }
      state.seen.insert("screen")
      let others = screen.tokens.filter { state.owners[$0] != state.user }
      if screen.user != state.user || !others.isEmpty {
        state.problems.append("The screen of user \(state.user) shows \(others) and user \(screen.user).")
      }
    }
  }

  /// The screen gets what the server has of the user.
  private func fetchScreen(_ phone: Phone) {
    let done = self.server.done
    let screen = self.state.withLock { state in
      PhoneScreen(user: state.user, tokens: done.filter { state.owners[$0] == state.user }.sorted())
    }
    phone.screen.currentValue = screen
  }

  private func call(_ phone: Phone) async {
    let (kind, note) = (self.random(0..<4), self.random(0..<3))
    // The screen may be older than the server.
    let base = kind == 3 ? max(0, self.server.version(of: note) - self.random(0..<2)) : nil
    let token = self.state.withLock { state in
      state.lastToken += 1
      state.owners[state.lastToken] = state.user
      // Also one that is turned down: whether it is may be known later.
      if kind == 2 { state.settings[note, default: []].append(state.lastToken) }
      return state.lastToken
    }
    let arguments = Tokens(note: note, tokens: [token])
    let call = Task.immediate {
      do {
        try await phone.call(kind, arguments, basedOn: base)
      } catch let error as JournalError where error.code == .removed {
        // The user has signed out. It may have been about to be accepted.
        self.state.withLock { _ = $0.removed.insert(token) }
        throw error
      }
    }
    if self.random(0..<4) == 0 { call.cancel() }
    // A call that is cancelled while it is being written may still be turned down.
    await phone.journal.settled()
    let isAccepted = phone.storedTokens.contains(token) || self.server.begun.contains(token)
    self.state.withLock { state in
      if isAccepted {
        state.accepted.insert(token)
      } else {
        state.seen.insert("notAccepted")
      }
      state.calls.append(call)
    }
  }

  /// Decides about a conflict, by the token.
  private func resolve(_ call: ConflictedCall<Tokens>, _ current: Int) -> ConflictResolution<Tokens> {
    let token = call.arguments.tokens.first ?? 0
    switch token % 4 {
    case 0:
      self.state.withLock { _ = $0.seen.insert("merged a conflict") }
      return .retry(with: call.arguments, basedOn: "\(current)")
    case 1:
      self.state.withLock { state in
        state.seen.insert("discarded a conflict")
        state.removed.formUnion(call.arguments.tokens)
      }
      return .discard
    case 2:
      self.state.withLock { _ = $0.seen.insert("held the scope") }
      return .ask(holdingScope: true)
    default:
      self.state.withLock { _ = $0.seen.insert("asked") }
      return .ask
    }
  }

  /// The user signs out: nothing of the journal and of the screen is left. If the storage fails, the user stays.
  private func signOut(_ phone: Phone) async {
    let entries = phone.journal.entries
    let isJournalEmpty = await phone.journal.removeAll()
    phone.client.resetStores()
    let areValuesRemoved = (try? await phone.client.persistence.removeAll()) != nil
    let left = Set(phone.journal.entries.map(\.id))
    let removed = entries.filter { !left.contains($0.id) }
    self.state.withLock { state in
      state.removed.formUnion(removed.flatMap { Tokens($0).tokens })
      guard isJournalEmpty, areValuesRemoved else {
        state.seen.insert("signing out failed")
        return
      }
      state.seen.insert("signed out")
      state.signedOut.formUnion(removed.map(\.id))
      state.user += 1
    }
  }

  /// The process is killed, and the program is started again, perhaps in another version.
  private func restart(version: Int? = nil) async {
    let phone = self.current
    let version = version ?? self.random(1..<3)
    if version != phone.version {
      self.state.withLock { _ = $0.seen.insert(version > phone.version ? "updated" : "downgraded") }
    }
    let entries = await phone.storage.kill()
    phone.network.turnOff()
    self.server.endGeneration(phone.generation)
    let next = Phone(
      server: self.server,
      storage: InMemoryStorage(entries: entries),
      date: phone.clock.now(),
      generation: phone.generation + 1,
      isOnline: self.random(0..<2) == 0,
      version: version,
      resolve: { [weak self] in self?.resolve($0, $1) ?? .ask }
    )
    self.phone.withLock { $0 = next }
    for call in self.state.withLock({ $0.calls }) { call.cancel() }
    self.state.withLock { state in
      state.calls = []
      state.signedOut = []
      state.killed.append(phone)
      state.seen.insert("restarted")
      if next.screen.currentValue != nil { state.seen.insert("screen after a restart") }
    }
  }

  /// The user looks at what is set aside.
  private func decide(_ phone: Phone) async {
    if let conflict = phone.openConflicts.first { return await self.decide(conflict, of: phone) }
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

  private func decide(_ conflict: JournalConflict<Tokens, Int>, of phone: Phone) async {
    let isDiscarded = self.random(0..<3) == 0
    let resolution =
      isDiscarded ? .discard : ConflictResolution.retry(with: conflict.call.arguments, basedOn: "\(conflict.current)")
    guard (try? await phone.journal.resolve(conflict, with: resolution)) == true else { return }
    self.state.withLock { state in
      state.seen.insert("decided")
      if isDiscarded { state.removed.formUnion(conflict.call.arguments.tokens) }
    }
  }

  /// Makes everything well, and waits until nothing is left to be sent.
  func end() async {
    self.server.recover()
    self.current.storage.setRoom(.everything)
    await self.restart(version: 2)
    let phone = self.current
    phone.network.turnOn()
    phone.network.change()
    for _ in 0..<40 {
      await phone.journal.settled()
      for conflict in phone.openConflicts {
        _ = try? await phone.journal.resolve(conflict, with: .retry(with: conflict.call.arguments))
      }
      await phone.journal.settled()
      phone.clock.advance(by: .seconds(400))
    }
    await phone.journal.settled()
    let (shown, entries) = (phone.shownPending.sorted(), phone.journal.entries.map(\.id).sorted())
    if shown != entries { self.state.withLock { $0.problems.append("Stores show \(shown), of \(entries).") } }
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
    // A setting is replaced by a later one of its note, of which something is known.
    let replaced = settings.values.flatMap { tokens in
      tokens.prefix { token in tokens.contains { $0 > token && (known.contains($0) || removed.contains($0)) } }
    }
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
