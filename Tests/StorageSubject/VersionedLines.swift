#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationBackoff
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationSQLite
  import SubjectFixtures

  /// What a call sends, in any version of the program: the numbers that are to be added.
  protocol Numbers: Codable, Sendable {
    init(_ numbers: [Int])

    var all: [Int] { get }
  }

  /// The arguments of the first version.
  struct FirstNumbers: Numbers {
    let numbers: [Int]

    init(_ numbers: [Int]) { self.numbers = numbers }

    var all: [Int] { self.numbers }

    static func canDecode(_ arguments: [UInt8]) -> Bool {
      (try? JSONDecoder().decode(Self.self, from: Data(arguments))) != nil
    }
  }

  /// The arguments of the second version, whose member has another name.
  struct SecondNumbers: Numbers {
    let list: [Int]

    init(_ numbers: [Int]) { self.list = numbers }

    var all: [Int] { self.list }
  }

  /// The error of a call that is based on an older version of the server's file.
  struct LinesConflict: MutationConflict {
    let current: Int
  }

  /// A server with a version, which does the request of each key once. Its file has a line for each change.
  struct VersionedServer: Sendable {
    let file: LineFile

    var version: Int { self.file.lines.count }

    /// Another device changes the file.
    func change() { self.file.append("other device") }

    func add(_ numbers: [Int], basedOn base: String?, key: String) throws {
      let lines = self.file.lines
      if lines.contains(where: { $0.hasSuffix(" \(key)") }) { return }
      if let base, base != "\(lines.count)" { throw LinesConflict(current: lines.count) }
      self.file.append("\(numbers.map(String.init).joined(separator: ",")) \(key)")
    }
  }

  /// A mutation that adds numbers, unless the server has another version than the call is based on.
  struct AddNumbers<Arguments: Numbers>: MutationRequest {
    let server: VersionedServer
    var path: OperationPath { ["add"] }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Arguments,
      in context: OperationContext,
      with continuation: OperationContinuation<Void, any Error>
    ) async throws {
      try self.server.add(
        arguments.all,
        basedOn: context.operationBaseVersion,
        key: context.operationIdempotencyKey ?? "no key"
      )
    }
  }

  extension StorageSubject {
    /// Adds numbers by calls that are merged and in conflict, in one of two versions of the program. The journal
    /// resumes by itself.
    ///
    /// - Parameters:
    ///   - database: The file of the calls.
    ///   - server: The file of the server.
    ///   - count: How many numbers are added, those included that earlier starts have added.
    ///   - killAt: The call of the storage at which the process kills itself; 0 for never.
    ///   - version: The version of the program. The first cannot make the calls of the second.
    /// - Throws: The error of the storage.
    static func years(database: String, server: String, count: Int, killAt: Int, version: Int) async throws {
      let accepted = LineFile(server + ".accepted")
      let base = AcceptingStorage(try SQLiteStorage(path: database), accepted: accepted) { arguments in
        try (try? JSONDecoder().decode(FirstNumbers.self, from: arguments).all)
          ?? JSONDecoder().decode(SecondNumbers.self, from: arguments).all
      }
      let storage = KillingStorage(base, killAt: killAt)
      let server = VersionedServer(file: LineFile(server))
      let first = (accepted.lines.compactMap { Int($0) }.max() ?? -1) + 1
      let left =
        version == 1
        ? try await self.add(self.first(server), named: "add", first..<max(first, count), to: server, storage)
        : try await self.add(self.second(server), named: "numbers", first..<max(first, count), to: server, storage)
      print("done \(left) \(storage.callCount)")
      await storage.close()
    }

    private static func first(_ server: VersionedServer) -> some MutationRequest<FirstNumbers, Void, any Error> {
      self.resolving(FirstNumbers.self, server).scope("numbers")
        .journaled(as: "add", policy: self.joining(), failsForGood: .where { _ in false })
    }

    private static func second(_ server: VersionedServer) -> some MutationRequest<SecondNumbers, Void, any Error> {
      self.resolving(SecondNumbers.self, server).scope("numbers")
        .journaled(
          as: "numbers",
          aliases: ["add"],
          version: 2,
          policy: self.joining(),
          failsForGood: .where { _ in false },
          migrate: { bytes, _ in
            SecondNumbers(try JSONDecoder().decode(FirstNumbers.self, from: Data(bytes)).numbers)
          }
        )
    }

    private static func resolving<Arguments: Numbers>(
      _ type: Arguments.Type,
      _ server: VersionedServer
    ) -> some MutationRequest<Arguments, Void, any Error> {
      AddNumbers<Arguments>(server: server).resolvesConflicts(of: LinesConflict.self) { call, current in
        guard let first = call.arguments.all.first, first % 3 == 0 else { return .ask(holdingScope: true) }
        return .retry(with: call.arguments, basedOn: "\(current)")
      }
    }

    private static func joining<Arguments: Numbers>() -> JournalPolicy<Arguments> {
      .merge(by: { _ in "numbers" }, { Arguments($0.all + $1.all) })
    }

    /// Adds numbers, and decides about conflicts. Returns how many calls are left that this version cannot make.
    private static func add<Arguments: Numbers>(
      _ mutation: some MutationRequest<Arguments, Void, any Error>,
      named name: String,
      _ numbers: Range<Int>,
      to server: VersionedServer,
      _ storage: KillingStorage
    ) async throws -> Int {
      let journal = MutationJournal(
        storage: storage,
        resumes: .when(.always(true), backoff: .constant(.milliseconds(1))),
        attemptsBeforeDeadLetter: 1_000
      )
      let client = OperationClient()
      client.journal = journal
      journal.register(mutation, as: name)
      try await journal.load()
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      let subscription = journal.subscribe { _ in continuation.yield() }
      let store = client.store(for: mutation)
      let isAdded = AtomicFlag(false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 5) {
            server.change()
            await withTaskGroup(of: Void.self) { calls in
              for number in start..<min(start + 5, numbers.upperBound) {
                calls.addImmediateTask {
                  var context = OperationContext()
                  context.operationBaseVersion = "\(server.version)"
                  // One that is set aside throws, and is made all the same.
                  _ = try? await store.mutate(with: Arguments([number]), using: context)
                }
              }
            }
          }
          _ = isAdded.set(true)
          continuation.yield()
        }
        for await _ in changes {
          for conflict in journal.conflicts(of: mutation, as: Int.self) {
            let resolution = ConflictResolution.retry(with: conflict.call.arguments, basedOn: "\(server.version)")
            try await journal.resolve(conflict, with: resolution)
          }
          // Calls of a later version of the program stay.
          let isOver = journal.entries.first.map { name == "add" && !FirstNumbers.canDecode($0.arguments) } ?? true
          if isOver, isAdded.isOn { break }
        }
        try await group.waitForAll()
      }
      subscription.cancel()
      return journal.entries.count
    }
  }
#endif
