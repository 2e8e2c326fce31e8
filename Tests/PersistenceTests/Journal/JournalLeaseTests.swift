import FoundationEssentials
import OperationCore
import OperationEvents
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Two journals, as two processes have them, over one storage with leases and one clock.
@Suite(.bounded, .warningsAreIssues) struct JournalLeaseTests {
  private let server = Server()
  private let script = Script()
  private let clock = ManualClock()
  private let storage: SharedStorage

  init() {
    let clock = self.clock
    self.storage = SharedStorage(InMemoryStorage(elapsed: { clock.elapsed }))
  }

  private func process(
    _ prefix: String,
    in scope: String? = "s",
    _ network: NetworkSwitch? = nil,
    _ script: Script? = nil
  ) -> Process {
    func process(_ mutation: some MutationRequest<Note, String, any Error>) -> Process {
      let storage = SharedStorage(self.storage.base)
      let program = Program(storage, clock: self.clock)
      let journal = program.makeJournal(prefix: prefix)
      journal.register(mutation, as: "send")
      let store = program.client.store(for: mutation)
      return Process(program: program, storage: storage, journal: journal) {
        try await store.mutate(with: Note(id: 1, text: $0))
      }
    }
    let online = NetworkSwitch()
    online.turnOn()
    let send = Send(server: self.server, script: script ?? self.script).waits(until: network ?? online)
    guard let scope else { return process(send.journaled(as: "send")) }
    return process(send.scope(scope).journaled(as: "send"))
  }

  /// Advances the clock whenever somebody waits for it, until a run begins.
  private func nextRun() async throws -> ScriptedRun<String, any Error> {
    let run = Task { try await self.script.next() }
    let count = self.script.runCount
    // In small steps: other tasks have to react before a lease ends.
    for _ in 0..<4_000 where self.script.runCount == count {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .milliseconds(5))
    }
    return try await run.value
  }

  @Test func `A call of a second process is stored at once, and waits until the first is idle`() async throws {
    let a = self.process("a")
    let b = self.process("b")
    let first = Task.immediate { try await a.send("a") }
    let run = try await self.script.next()
    let second = Task.immediate { try await b.send("b") }
    // The second process has read the entry of the first one.
    try await b.journal.entries(count: 2)
    expect(self.server.done, equals: ["a"])
    run.succeed("ok")
    _ = try await first.value
    let next = try await self.nextRun()
    expect(self.server.done, equals: ["a", "b"])
    next.succeed("ok")
    _ = try await second.value
    expect(self.server.requests.map(\.key), equals: ["a1", "b1"])
    #expect(try await self.storage.base.keys().isEmpty)
  }

  @Test(arguments: [("s", "t"), (nil, nil), ("s", nil)] as [(String?, String?)])
  func `Two processes send calls of different scopes, and those without one, at once`(
    scopes: (String?, String?)
  ) async throws {
    let a = self.process("a", in: scopes.0)
    let b = self.process("b", in: scopes.1)
    let calls = [Task.immediate { try await a.send("a") }, Task.immediate { try await b.send("b") }]
    let runs = [try await self.script.next(), try await self.script.next()]
    expect(self.server.done.sorted(), equals: ["a", "b"])
    for run in runs { run.succeed("ok") }
    for call in calls { _ = try await call.value }
    #expect(try await self.storage.base.keys().isEmpty)
  }

  @Test func `Calls of many scopes are made again by two processes, each scope by one of them in order`() async throws {
    let scopes = (0..<(ModelRuns.isThorough ? 100 : 40)).map { "\($0)" }
    for scope in scopes { try await leaveCalls(["\(scope)a", "\(scope)b"], in: self.storage.base, scope: scope) }
    let processes = ["a", "b"].map { self.process($0, nil, Script(default: .value("ok"))) }
    var resumptions: [JournalResumption] = []
    for process in processes { resumptions.append(await process.journal.resume()) }
    let ends = resumptions.map { resumption in Task { await resumption.settled() } }
    let end = Task { for end in ends { await end.value } }
    try await self.clock.advance(until: end)
    for scope in scopes {
      let texts = self.server.requests.map(\.text).filter { $0.dropLast() == scope }
      expect(texts, equals: ["\(scope)a", "\(scope)b"])
    }
    #expect(try await self.storage.base.keys().isEmpty)
  }

  @Test func `Calls that a process finds go before its own, also if their process may live`() async throws {
    // The first process was killed after it had stored the call, and before it had the right to make the call.
    try await leaveCalls(["a"], in: self.storage.base, owner: "first")
    try await expect(self.storage.base.acquireLease("journal/first", owner: "first", for: .seconds(5)), equals: .held)
    let second = self.process("b")
    let call = Task.immediate { try await second.send("b") }
    let run = try await self.nextRun()
    #expect(self.clock.elapsed >= .seconds(5))
    expect(self.server.done, equals: ["a"])
    run.succeed("ok")
    try await self.nextRun().succeed("ok")
    _ = try await call.value
    expect(self.server.done, equals: ["a", "b"])
  }

  @Test func `A process that waits behind the call of another one leaves it the right to make it`() async throws {
    try await leaveCalls(["a"], in: self.storage.base, owner: "first")
    try await expect(self.storage.base.acquireLease("journal/first", owner: "first", for: .seconds(60)), equals: .held)
    let second = self.process("b")
    let call = Task.immediate { try await second.send("b") }
    for _ in 0..<200 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .milliseconds(50))
    }
    #expect(self.server.requests.isEmpty)
    try await expect(self.storage.base.acquireLease("journal:ss/", owner: "first", for: .seconds(60)), equals: .held)
    // The first process makes its call.
    let key = try #require(try await self.storage.base.keys("journal/").first)
    try await self.storage.base.apply([.remove(key: key)])
    try await self.storage.base.releaseLease("journal:ss/", owner: "first")
    try await self.nextRun().succeed("ok")
    _ = try await call.value
    expect(self.server.done, equals: ["b"])
  }

  @Test func `A caller that waits for the lease of another process says for how long at most`() async throws {
    let lease = "journal:ss/"
    try await expect(self.storage.base.acquireLease(lease, owner: "dead", for: .seconds(4)), equals: .held)
    let process = self.process("b")
    let send = Send(server: self.server, script: self.script, path: ["patient"]).scope("s").journaled(as: "patient")
    let store = process.program.client.store(for: send)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    // It asks again.
    try await self.clock.sleepers(count: 1)
    let text = "\(store.explain())"
    let reason = "the lease of another process, for at most 4 s unless it renews it"
    #expect(text.contains(reason), "\(text)")
    try await self.nextRun().succeed("ok")
    try await expect(call.value, equals: "ok")
    #expect(self.clock.elapsed >= .seconds(4))
  }

  @Test(arguments: ["s", nil]) func `The calls of an earlier start say for how long they wait for a lease`(
    scope: String?
  ) async throws {
    let lease = scope.map { "journal:s\($0)/" } ?? "journal"
    try await leaveCalls(["a", "b"], in: self.storage.base, scope: scope)
    try await expect(self.storage.base.acquireLease(lease, owner: "dead", for: .seconds(4)), equals: .held)
    let process = self.process("b", in: scope)
    let resumption = await process.journal.resume()
    // It asks again.
    try await self.clock.sleepers(count: 1)
    let send = Send(server: self.server, script: self.script, path: ["other"])
    let text: String
    if let scope {
      text = "\(process.program.client.store(for: send.scope(scope).journaled(as: "send")).explain())"
    } else {
      text = "\(process.program.client.store(for: send.journaled(as: "send")).explain())"
    }
    let reason =
      "2 calls to be made again: waiting for the lease of another process, for at most 4 s unless it renews it"
    #expect(text.contains(reason), "\(text)")
    let end = process.date.addingTimeInterval(4)
    expect(process.journal.entries.map(\.leaseEndsAt), equals: [end, end])
    let entry = try #require(process.journal.entries.first)
    #expect("\(entry)".contains("waiting for the lease of another process, until \(end) at most"), "\(entry)")
    for _ in 0..<2 { try await self.nextRun().succeed("ok") }
    await resumption.settled()
    #expect(self.clock.elapsed >= .seconds(4))
  }

  @Test func `Entries and the state show until when the lease of a killed process keeps its calls, and no longer`()
    async throws
  {
    try await leaveCalls(["a", "b"], in: self.storage.base, owner: "dead")
    // The process was killed a second after it had renewed its lease.
    let own = "journal/dead"
    try await expect(self.storage.base.acquireLease(own, owner: "dead", for: .seconds(4)), equals: .held)
    let process = self.process("b")
    let changes = Log<[Date?]>()
    let subscription = process.journal.subscribe { changes.append($0.map(\.leaseEndsAt)) }
    let send = Send(server: self.server, script: self.script, path: ["other"]).scope("s").journaled(as: "send")
    let store = process.program.client.store(for: send)
    let resumption = await process.journal.resume()
    // It looks again.
    try await self.clock.sleepers(count: 1)
    let end = process.date.addingTimeInterval(4)
    expect(process.journal.entries.map(\.leaseEndsAt), equals: [end, end])
    expect(store.state.journaledCalls.map(\.leaseEndsAt), equals: [end, end])
    expect(store.state.journaledCalls.map(\.status), equals: [.waiting, .waiting])
    for _ in 0..<2 { try await self.nextRun().succeed("ok") }
    await resumption.settled()
    #expect(self.clock.elapsed >= .seconds(4))
    expect(self.server.done, equals: ["a", "b"])
    #expect(changes.all.contains([nil]), "the second call is made without a wait")
    #expect(store.state.journaledCalls.allSatisfy { $0.leaseEndsAt == nil })
    subscription.cancel()
  }

  @Test(arguments: ["s", nil]) func `A process that is suspended begins no attempt before it has the lease again`(
    scope: String?
  ) async throws {
    let a = self.process("a")
    self.script.enqueue(.error(Refused()))
    let wait = NetworkSwitch()
    let send = Send(server: self.server, script: self.script, path: ["patient"]).tryingAgain(when: wait)
    let call: Task<String, any Error>
    let note = Note(id: 1, text: "a")
    if let scope {
      let store = a.program.client.store(for: send.scope(scope).journaled(as: "patient"))
      call = Task.immediate { try await store.mutate(with: note) }
    } else {
      let store = a.program.client.store(for: send.journaled(as: "patient"))
      call = Task.immediate { try await store.mutate(with: note) }
    }
    try await self.script.runs(count: 1)
    expect(wait.observerCount, equals: 1)
    // Another process takes the lease while this one is suspended.
    let owner = try await self.owner()
    let lease = scope.map { "journal:s\($0)/" } ?? "journal/\(owner)"
    #expect(try await self.storage.base.acquireLease(lease, owner: "other", for: .seconds(60)) != .held)
    a.storage.suspend()
    self.clock.advance(by: .seconds(6))
    try await expect(self.storage.base.acquireLease(lease, owner: "other", for: .seconds(60)), equals: .held)
    a.storage.resume()
    wait.turnOn()
    try await self.clock.sleepers(count: 1)
    expect(self.script.runCount, equals: 1)
    try await self.storage.base.releaseLease(lease, owner: "other")
    let run = try await self.nextRun()
    run.succeed("ok")
    _ = try await call.value
    expect(self.server.requests.count, equals: 2)
  }

  @Test func `An attempt that was counted with the acceptance is counted anew if another process has made one`()
    async throws
  {
    let a = self.process("a")
    let send = Send(server: self.server, script: self.script, path: ["prompt"]).scope("s").journaled(as: "prompt")
    let store = a.program.client.store(for: send)
    let answer = a.storage.holdNextAnswer()
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await answer.arrivals(count: 1)
    // Another process takes this one for dead, and makes the call, which fails.
    a.storage.suspend()
    self.clock.advance(by: .seconds(6))
    let entry = try #require(try await self.storage.base.entries(withPrefix: "journal/").first)
    let text = String(decoding: entry.value, as: UTF8.self).replacing(#""attempts":1"#, with: #""attempts":2"#)
      .replacing(#""isBegun":true"#, with: #""isBegun":false"#)
    try await self.storage.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    answer.open()
    try await a.journal.entries(count: 1)
    expect(a.journal.entries.map(\.attempts), equals: [1])
    a.storage.resume()
    let run = try await self.nextRun()
    expect(a.journal.entries.map(\.attempts), equals: [3])
    run.succeed("ok")
    try await expect(call.value, equals: "ok")
    #expect(try await self.storage.base.keys().isEmpty)
  }

  @Test func `A call is not made whose entry another process has removed before its acceptance was answered`()
    async throws
  {
    let a = self.process("a")
    let script = Script(default: .value("ok"))
    let send = Send(server: self.server, script: script, path: ["prompt"]).scope("s").journaled(as: "prompt")
    let store = a.program.client.store(for: send)
    let answer = a.storage.holdNextAnswer()
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await answer.arrivals(count: 1)
    let key = try #require(try await self.storage.base.keys("journal/").first)
    try await self.storage.base.apply([.remove(key: key)])
    // The leases end, this process takes them again, and reads the entries.
    let reading = a.storage.holdNextReading(of: "journal")
    self.clock.advance(by: .seconds(6))
    try await reading.arrivals(count: 1)
    answer.open()
    reading.open()
    let error = await #expect(throws: JournalError.self) { try await call.value }
    expect(error?.code, equals: .takenOver)
    #expect(self.server.requests.isEmpty)
  }

  @Test func `Arguments are not sent that another process has replaced`() async throws {
    let a = self.process("a")
    let network = NetworkSwitch()
    let send = Send(server: self.server, path: ["prompt"]).waits(until: network).scope("s").journaled(as: "prompt")
    let store = a.program.client.store(for: send)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await a.journal.texts(["a"])
    // Another process takes this one for dead, makes the call, and resolves a conflict.
    let entry = try #require(try await self.storage.base.entries(withPrefix: "journal/").first)
    let text = String(decoding: entry.value, as: UTF8.self).replacing(#"\"a\""#, with: #"\"z\""#)
      .replacing(#""attempts":1"#, with: #""attempts":1,"revision":1"#)
    try await self.storage.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    self.clock.advance(by: .seconds(6))
    try await a.journal.texts(["z"])
    network.turnOn()
    let error = await #expect(throws: JournalError.self) { try await call.value }
    expect(error?.code, equals: .takenOver)
    #expect(self.server.requests.isEmpty)
    expect(a.journal.statuses, equals: [.waiting])
  }

  /// A process that has read two entries of earlier starts, and reads them again because it has just taken the lease.
  private func readingAgain() async throws -> (process: Process, reading: Gate) {
    try await leaveCalls(["a", "b"], in: self.storage.base)
    let entry = try #require(try await self.storage.base.entries(withPrefix: "journal/").last)
    let text = String(decoding: entry.value, as: UTF8.self)
      .replacing(#""isSetAside":false"#, with: #""isSetAside":true"#)
    try await self.storage.base.apply([.put(key: entry.key, value: Array(text.utf8))])
    let a = self.process("a")
    try await a.journal.load()
    expect(a.journal.statuses, equals: [.waiting, .deadLetter])
    let reading = a.storage.holdNextReading()
    await a.journal.resume()
    try await reading.arrivals(count: 1)
    return (a, reading)
  }

  @Test func `An entry that is removed while the entries are read again stays removed`() async throws {
    let (a, reading) = try await self.readingAgain()
    #expect(await a.journal.remove("old1"))
    reading.open()
    await a.journal.settled()
    expect(a.journal.statuses, equals: [.deadLetter])
    #expect(self.server.requests.isEmpty)
    try await expect(self.storage.base.keys().filter { $0.hasPrefix("journal/") }.count, equals: 1)
  }

  @Test func `A decision of the user while the entries are read again stays`() async throws {
    self.script.enqueue(.value("ok"), .value("ok"))
    let (a, reading) = try await self.readingAgain()
    let retry = Task.immediate { await a.journal.retry("old2") }
    expect(a.journal.statuses, equals: [.waiting, .waiting])
    reading.open()
    #expect(await retry.value)
    await a.journal.settled()
    expect(self.server.done, equals: ["a", "b"])
    #expect(a.journal.entries.isEmpty)
  }

  @Test(arguments: ["s", nil]) func `A process that comes back makes no call that another one is making`(
    scope: String?
  ) async throws {
    let network = NetworkSwitch()
    let a = self.process("a", in: scope, network)
    let call = Task.immediate { try await a.send("a") }
    try await a.journal.entries(count: 1)
    // Process b believes that process a is dead.
    a.storage.suspend()
    self.clock.advance(by: .seconds(6))
    let b = self.process("b", in: scope)
    let resumption = await b.journal.resume()
    let run = try await self.nextRun()
    a.storage.resume()
    network.turnOn()
    // This takes less time than a lease lasts.
    for _ in 0..<30 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .milliseconds(50))
    }
    expect(self.script.runCount, equals: 1)
    run.succeed("ok")
    await resumption.settled()
    try await self.clock.advance(until: Task { _ = await call.result })
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .takenOver }
    expect(self.server.requests.map(\.key), equals: ["a1"])
    #expect(try await self.storage.base.keys().isEmpty)
  }

  @Test func `A call that ends while the entries are being read is not made again`() async throws {
    let a = self.process("a", in: "s")
    let first = Task.immediate { try await a.send("a") }
    let run = try await self.script.next()
    // The entries are read for another scope. The call ends while they are being read.
    let reading = a.storage.holdNextReading()
    let other = Send(server: self.server, script: self.script, path: ["other"]).scope("t").journaled(as: "send")
    let store = a.program.client.store(for: other)
    let second = Task.immediate { try await store.mutate(with: Note(id: 2, text: "b")) }
    try await reading.arrivals(count: 1)
    run.succeed("ok")
    _ = try await first.value
    reading.open()
    try await self.script.next().succeed("ok")
    _ = try await second.value
    #expect(a.journal.entries.isEmpty)
    await a.journal.resume().settled()
    expect(self.server.requests.map(\.key), equals: ["a1", "a2"])
    #expect(try await self.storage.base.keys().isEmpty)
  }

  @Test func `A closed storage is not reported when a journal releases its leases`() async throws {
    let a = self.process("a")
    let call = Task.immediate { try await a.send("a") }
    try await self.script.next().succeed("ok")
    _ = try await call.value
    await a.storage.close()
    // With another process, there is always a sleeper on the clock.
    let other = self.process("b", in: "t")
    let second = Task.immediate { try await other.send("b") }
    let otherRun = try await self.script.next()
    // The leases of the scope and of the process are kept for a while, and then released one after the other. When the
    // second release begins, the first was refused. A warning about it would be an issue.
    while !a.storage.secondRelease.isOpen {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .milliseconds(10))
    }
    otherRun.succeed("ok")
    _ = try await second.value
  }

  /// The name of the journal that has accepted the only call.
  private func owner() async throws -> String {
    struct Entry: Decodable { let owner: String }
    let entries = try await self.storage.base.entries(withPrefix: "journal/")
    return try JSONDecoder().decode(Entry.self, from: Data(#require(entries.first).value)).owner
  }
}

private struct Process {
  let program: Program
  let storage: SharedStorage
  let journal: MutationJournal
  let send: @Sendable (String) async throws -> String

  /// The date by the clock of the client.
  var date: Date { self.program.client.defaultContext.operationClock.now() }
}
