#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationCore
  import OperationPersistence
  import SubjectFixtures
  import TestFixtures

  @testable import OperationSQLite

  /// The starts of a program, a damage of its files, and what becomes of its calls, by a seed.
  final class YearsRun: Sendable {
    struct State: Sendable {
      var random: SeededGenerator
      var lastToken = 0
      /// The texts that each note has had, the newest last.
      var texts: [Int: [String]] = [:]
      /// The calls that are in the journal when the files are damaged.
      var calls: [JournalEntry] = []
      /// The identifiers of the calls that the user has given up.
      var removed: Set<String> = []
      var warnings: [OperationWarning] = []
      var problems: [String] = []
      var seen: Set<String> = []
      var damages: [YearsDamage] = []

      /// Whether the files may be older ones that are sound: nothing in them says that the end of the log is missing if its
      /// index is, too, or was made anew by whoever opened the file.
      var mayBeOlder: Bool {
        guard let log = self.damages.firstIndex(where: \.hitsLog) else { return false }
        return self.damages.contains(where: \.hitsIndex) || self.damages[log...].contains(where: \.opensFile)
      }
    }

    let state: Locked<State>
    let server: YearsServer
    private let isSealed: Bool

    private init(seed: UInt64) {
      self.state = Locked(State(random: SeededGenerator(seed: seed)))
      self.server = YearsServer(seed: seed &+ 1_000_000)
      self.isSealed = seed % 3 == 2
    }

    var seen: Set<String> { self.state.withLock { $0.seen } }
    var problems: [String] { self.state.withLock { $0.problems } + self.server.problems }

    var summary: String {
      self.state.withLock { state in
        let warnings = state.warnings.map { "  \($0.code): \($0.message)" }.joined(separator: "\n")
        return "sealed \(self.isSealed), \(state.damages)\n\(state.calls)\n\(warnings)"
      }
    }

    private func random(_ range: Range<Int>) -> Int { self.state.withLock { Int.random(in: range, using: &$0.random) } }

    func note(_ thing: String) { self.state.withLock { _ = $0.seen.insert(thing) } }

    func fail(_ problem: String) { self.state.withLock { $0.problems.append(problem) } }

    static func run(seed: UInt64) async throws -> YearsRun {
      let run = YearsRun(seed: seed)
      let folder = try Folder.inMemory()
      // What a program reports that is killed is not looked at.
      let ignore: OperationWarning.Reporter = { _ in }
      try await OperationWarning.withReporter(ignore) {
        try await run.start(0, version: 1, in: folder, isKilled: false)
        let copy = try await run.start(1, version: run.random(1..<3), in: folder, isKilled: run.random(0..<3) > 0)
        try await run.damage(copy)
        let reporter: OperationWarning.Reporter = { warning in run.state.withLock { $0.warnings.append(warning) } }
        try await OperationWarning.withReporter(reporter) {
          do {
            try await run.finish(in: copy)
          } catch let error as StorageError where error.code == .notADatabase {
            // Nothing in the file says that it is one of this library.
            run.note("refused")
          }
        }
      }
      return run
    }

    // MARK: - Before the damage

    private func storage(in folder: Folder, key: UInt64) throws -> (any PersistentStorage, SQLiteStorage) {
      let file = try SQLiteStorage(path: folder.file())
      guard self.isSealed else { return (file, file) }
      let keys = (1...key).reversed().map { TestKey($0) }
      return (SealedStorage(file, key: keys[0], previousKeys: Array(keys.dropFirst()), rewriting: .whenRead), file)
    }

    /// Starts the program, makes calls, and ends it. Returns a folder with what it leaves.
    @discardableResult
    private func start(_ number: Int, version: Int, in folder: Folder, isKilled: Bool) async throws -> Folder {
      let (storage, file) = try self.storage(in: folder, key: 1)
      let program = await YearsProgram(
        version,
        in: storage,
        self.server,
        start: number,
        at: Date(timeIntervalSinceReferenceDate: Double(number)),
        isOnline: self.random(0..<3) > 0
      )
      for note in YearsProgram.notes where number == 0 || self.random(0..<2) == 0 {
        let text = "note \(note) of start \(number)"
        program.setText(of: note, to: text)
        self.state.withLock { $0.texts[note, default: []].append(text) }
      }
      _ = await program.client.persistence.flush()
      var calls: [Task<Void, any Error>] = []
      for _ in 0..<self.random(6..<24) {
        if self.random(0..<8) == 0 { program.network.set(self.random(0..<2) == 0) }
        if self.random(0..<6) == 0 { self.server.change(self.random(YearsProgram.notes)) }
        calls.append(try await self.call(program))
      }
      // What was sent, and what is in the journal, is on the disk.
      program.network.set(false)
      // One that is not sent, and may expire.
      calls.append(try await self.call(program, YearsProgram.expiringKind))
      await program.journal.settled()
      await file.settled()
      let left = isKilled ? try self.copy(of: folder) : folder
      self.state.withLock { $0.calls = program.journal.entries }
      for call in calls { call.cancel() }
      for call in calls { _ = await call.result }
      await program.journal.settled()
      await storage.close()
      self.note(isKilled ? "killed" : "ended")
      return left
    }

    /// Makes a call of a kind, or of any, and returns when it is accepted.
    private func call(_ program: YearsProgram, _ kind: Int? = nil) async throws -> Task<Void, any Error> {
      let (kind, note) = (kind ?? self.random(YearsProgram.kinds), self.random(YearsProgram.notes))
      let token = self.state.withLock { state in
        state.lastToken += 1
        return state.lastToken
      }
      let version = max(0, self.server.version(of: note) - self.random(0..<2))
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      let subscription = program.journal.subscribe { _ in continuation.yield() }
      let call = Task.immediate {
        try await program.call(kind, YearsTokens(note: note, tokens: [token]), basedOn: version)
      }
      for await _ in changes where self.isAccepted(token, program) { break }
      subscription.cancel()
      return call
    }

    private func isAccepted(_ token: Int, _ program: YearsProgram) -> Bool {
      self.server.requests.contains { $0.tokens.contains(token) }
        || program.journal.entries.contains { YearsTokens($0.arguments)?.tokens.contains(token) == true }
    }

    private func copy(of folder: Folder) throws -> Folder {
      let copy = try Folder.inMemory()
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        try copy.write(try folder.read(name), to: name)
      }
      return copy
    }

    private func damage(_ folder: Folder) async throws {
      for _ in 0..<self.random(1..<3) {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
          if !name.contains("damaged") { files[name] = try folder.read(name) }
        }
        var random = SeededGenerator(seed: UInt64(self.random(0..<Int.max)))
        let damage = YearsDamage(of: files, isSealed: self.isSealed, using: &random)
        self.state.withLock { state in
          state.damages.append(damage)
          state.seen.insert(damage.name)
        }
        // Some damages are made through a storage, which may find the one before.
        let reporter: OperationWarning.Reporter = { warning in self.state.withLock { $0.warnings.append(warning) } }
        var used = random
        try await OperationWarning.withReporter(reporter) { try await damage.apply(to: folder, using: &used) }
      }
    }

    // MARK: - After the damage

    private func finish(in folder: Folder) async throws {
      // The program may be downgraded first.
      if self.random(0..<3) == 0 {
        self.note("downgraded")
        let (storage, _) = try self.storage(in: folder, key: 1)
        let date = Date(timeIntervalSinceReferenceDate: 10)
        let program = await YearsProgram(1, in: storage, self.server, start: 2, at: date, isOnline: true)
        await program.journal.resume().settled()
        program.network.set(false)
        await program.journal.settled()
        await storage.close()
      }
      self.server.recover()
      let isLate = self.random(0..<2) == 0
      let date = Date(timeIntervalSinceReferenceDate: isLate ? 10_000 : 20)
      let (storage, _) = try self.storage(in: folder, key: 2)
      let program = await YearsProgram(2, in: storage, self.server, start: 3, at: date, isOnline: true)
      try await self.decideAll(program, newer: try await self.newerCalls(in: storage))
      self.check(program)
      for kind in YearsProgram.kinds { try await self.callAtLast(kind, program) }
      for note in YearsProgram.notes { program.setText(of: note, to: "last") }
      if await !program.client.persistence.flush() { self.fail("not all values can be stored") }
      let kept = program.journal.entries.filter { $0.status != .waiting }.map(\.id)
      program.network.set(false)
      await program.journal.settled()
      await storage.close()
      try await self.startAgain(in: folder, kept: kept)
    }

    /// The identifiers of the calls whose arguments are of a later version of the program.
    private func newerCalls(in storage: any PersistentStorage) async throws -> Set<String> {
      struct Call: Decodable {
        let id: String
        let version: Int
      }
      let calls = try await storage.entries(withPrefix: "journal/").compactMap { entry in
        try? JSONDecoder().decode(Call.self, from: Data(entry.value))
      }
      return Set(calls.filter { $0.version > 2 }.map(\.id))
    }

    /// Decides about conflicts, and gives up those that cannot be decided and calls of a later version, until no call is
    /// to be sent.
    private func decideAll(_ program: YearsProgram, newer: Set<String>) async throws {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      let subscription = program.journal.subscribe { _ in continuation.yield() }
      try await program.journal.load()
      continuation.yield()
      for await _ in changes {
        for conflict in program.openConflicts {
          self.note("conflict")
          _ = try await program.journal.resolve(conflict, with: .retry(with: conflict.call.arguments))
        }
        for entry in program.journal.entries {
          // A conflict whose arguments are damaged is not offered to the user.
          let isUndecidable = entry.status == .conflicted && YearsTokens(entry.arguments) == nil
          guard isUndecidable || newer.contains(entry.id) else { continue }
          self.note(isUndecidable ? "undecidable conflict" : "newer version")
          self.state.withLock { _ = $0.removed.insert(entry.id) }
          _ = await program.journal.remove(entry.id)
        }
        let aside: Set<JournalEntry.Status> = [.unreadable, .deadLetter, .expired]
        if program.journal.entries.allSatisfy({ aside.contains($0.status) }) { break }
      }
      subscription.cancel()
      // What was set aside says why when that is stored.
      await program.journal.settled()
    }

    private func callAtLast(_ kind: Int, _ program: YearsProgram) async throws {
      let token = 10_000 + kind
      let version = self.server.version(of: 0)
      try await program.call(kind, YearsTokens(note: 0, tokens: [token]), basedOn: version)
      if self.server.done[token] == nil { self.fail("the call \(token) was not sent") }
    }

    /// The file is sound from now on, and what was kept aside is still there.
    private func startAgain(in folder: Folder, kept: [String]) async throws {
      let before = self.state.withLock { $0.warnings.count }
      let (storage, file) = try self.storage(in: folder, key: 2)
      let date = Date(timeIntervalSinceReferenceDate: 20_000)
      let program = await YearsProgram(2, in: storage, self.server, start: 4, at: date, isOnline: false)
      try? await program.journal.load()
      let found = program.journal.entries.map(\.id)
      if found != kept { self.fail("\(kept) were kept, and \(found) are found") }
      let later = self.state.withLock { $0.warnings.dropFirst(before).map(\.code) }
      if later.contains(.storageDamaged) { self.fail("the next start reports \(later)") }
      if await !program.journal.removeAll() { self.fail("not all entries can be removed") }
      let rest = try await file.entries(withPrefix: self.isSealed ? "sealed-journal/" : "journal/")
      if !rest.isEmpty { self.fail("\(rest.map(\.key)) are left after their removal") }
      await storage.close()
    }
  }
#endif
