#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import Glibc
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationSQLite
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.boundedBeforeOthers, .serialized) struct FaultTests {
    private static let count = 200

    @Test(arguments: [false, true])
    func `Killed at any call of the storage, no accepted call is lost, and each is done once, in order`(
      isSealed: Bool
    ) async throws {
      let complete = try Folder.inMemory()
      let key = isSealed ? 1 : 0
      let result = try await self.makeCalls(in: complete, count: Self.count, killAt: 0, key: key)
      let words = result.output.split(separator: " ")
      try #require(words.count == 3 && words[0] == "done" && words[1] == "0", "\(result)")
      let callCount = try #require(Int(words[2]))
      try self.check(complete)
      #expect(callCount >= 4 * Self.count)

      // All places take some minutes. The default is a sample that has all of the first and of the last places.
      let isComplete = ProcessInfo.processInfo.environment["SWIFT_OPERATION_ALL_FAULTS"] != nil
      let places = (1...callCount + 2).filter { isComplete || $0 <= 24 || $0 > callCount - 12 || $0 % 17 == 0 }
      await withTaskGroup(of: Void.self) { group in
        for place in places {
          if place > places[1] { await group.next() }
          group.addTask { await self.killAndRestart(at: place, of: callCount, isSealed: isSealed) }
        }
      }
    }

    private func makeCalls(
      in folder: Folder,
      count: Int,
      killAt place: Int,
      key: Int
    ) async throws -> (output: String, reason: Process.TerminationReason) {
      try await runSubject("calls", folder.file(), folder.file("server"), "\(count)", "\(place)", "\(key)")
    }

    /// A sealed storage has another key at each start.
    private func killAndRestart(at place: Int, of callCount: Int, isSealed: Bool) async {
      let keys = isSealed ? [1, 2, 3] : [0, 0, 0]
      await #expect(throws: Never.self, "killed at \(place)") {
        let folder = try Folder.inMemory()
        let first = try await self.makeCalls(in: folder, count: Self.count, killAt: place, key: keys[0])
        // How many calls of the storage there are depends on how many changes are written together.
        if first.reason == .exit { #expect(place > callCount * 4 / 5, "it was not killed at \(place): \(first)") }
        // The restart is killed, too, while it makes the calls that are left.
        _ = try await self.makeCalls(in: folder, count: 0, killAt: place % 7 + 1, key: keys[1])
        let last = try await self.makeCalls(in: folder, count: 0, killAt: 0, key: keys[2])
        #expect(last.output.hasPrefix("done 0"), "killed at \(place): \(last)")
        try self.check(folder, "killed at \(place)")
      }
    }

    /// Compares the requests of the server with the accepted calls.
    private func check(_ folder: Folder, _ comment: Comment = "") throws {
      func lines(_ name: String) -> [String] {
        String(decoding: (try? folder.read(name)) ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
      }
      let accepted = lines("server.accepted").compactMap { Int($0) }
      var done: [Int] = []
      var keys: [Int: String] = [:]
      for request in lines("server").map({ $0.split(separator: " ") }) {
        let number = try #require(Int(request[0]))
        if let key = keys[number] {
          // A repeated request: the server knows it by its key.
          #expect(key == request[1], comment)
        } else {
          keys[number] = String(request[1])
          done.append(number)
        }
      }
      #expect(Set(accepted).isSubset(of: done), "\(comment): lost \(Set(accepted).subtracting(done).sorted())")
      expect(done, equals: done.sorted(), comment)
      expect(Set(keys.values).count, equals: keys.count, comment)
    }

    @Test(arguments: [2, 4])
    func `Processes that share a file send each call once, one at a time, and take over from the dead`(
      count: Int
    ) async throws {
      let folder = try Folder.inMemory()
      let calls = 12
      let results = try await withThrowingTaskGroup(of: (Int, Process.TerminationReason).self) { group in
        for process in 1...count {
          // The first is killed while it sends, and the second is the one that must take over.
          let killAfter = process == 1 ? 4 : 0
          group.addTask {
            let result = try await runSubject(
              "shared",
              folder.file(),
              folder.file("server"),
              "\(process)",
              "\(calls)",
              "\(killAfter)"
            )
            return (process, result.reason)
          }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      expect(results[1], equals: .uncaughtSignal)
      #expect(results.filter { $0.key != 1 }.allSatisfy { $0.value == .exit })
      // What the dead process has left is made by one that is started now, if the others have ended before.
      let last = try await runSubject("shared", folder.file(), folder.file("server"), "9", "0", "0")
      expect(last.output, equals: "done 9")
      try self.checkShared(folder, processes: count, calls: calls)
      let storage = try SQLiteStorage(path: folder.file())
      #expect(try await storage.keys("journal/").isEmpty)
      await storage.close()
    }

    /// Checks that no two requests overlap unless the sender of the first has ended, that a call is repeated only
    /// then, and that the calls of each process are in order.
    private func checkShared(_ folder: Folder, processes: Int, calls: Int) throws {
      func lines(_ name: String) throws -> [[String]] {
        String(decoding: try folder.read(name), as: UTF8.self).split(separator: "\n")
          .map { $0.split(separator: " ").map(String.init) }
      }
      var open: [String]?
      var done: [Int] = []
      var senders: [Int: String] = [:]
      // The first is killed.
      var ended: Set = ["1"]
      for line in try lines("server") {
        try #require(line.count == 4)
        if line[0] == "begin" {
          if let open { #expect(ended.contains(open[1]), "\(line) begins during \(open)") }
          open = line
        } else if line[0] == "exit" {
          ended.insert(line[1])
        } else {
          expect(open.map { Array($0.dropFirst()) }, equals: Array(line.dropFirst()))
          open = nil
          let number = try #require(Int(line[2]))
          // A sender may end after the server has done a call, and before the journal has removed it.
          if let first = senders.updateValue(line[1], forKey: number) {
            #expect(ended.contains(first), "\(number) was sent by \(first) and \(line[1])")
          } else {
            done.append(number)
          }
        }
      }
      for process in 1...processes {
        let numbers = done.filter { $0 / 1_000 == process }
        expect(numbers, equals: numbers.sorted())
        if process > 1 { expect(numbers.count, equals: calls) }
      }
      let accepted = try lines("server.accepted").compactMap { $0.first.flatMap { Int($0) } }
      #expect(Set(accepted).isSubset(of: done))
    }

    @Test func `Two processes write one file`() async throws {
      let folder = try Folder()
      async let first = runSubject("writes", folder.file(), "a", "200")
      async let second = runSubject("writes", folder.file(), "b", "200")
      async let third = runSubject("writes", folder.file(), "c", "200")
      for result in try await [first, second, third] { expect(result.output, equals: "done") }
      let storage = try SQLiteStorage(path: folder.file())
      for name in ["a", "b", "c"] {
        try await expect(storage.keys("\(name)/").count, equals: 201)
        try await expect(storage.entries(withPrefix: "\(name)/last").map(\.value), equals: [Array("199".utf8)])
      }
      await storage.close()
    }

    @Test func `A file that stays locked ends the wait with an error`() async throws {
      let folder = try Folder()
      let storage = try SQLiteStorage(path: folder.file(), busyTimeout: .milliseconds(50))
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      let other = try DatabaseQueue(path: folder.file(), configuration: configuration)
      try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
      await #expect { try await storage.put("a", "b") } throws: { ($0 as? StorageError)?.code == .busy }
      // Reading does not wait for a writer.
      #expect(try await storage.keys().isEmpty)
      try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
      try await storage.put("a", "b")
      try await expect(storage.keys(), equals: ["a"])
      await storage.close()
    }

    @Test func `All callers of a journal hear that the file is locked, and their calls are not stored`() async throws {
      let folder = try Folder()
      let storage = try SQLiteStorage(path: folder.file(), busyTimeout: .milliseconds(50))
      let mutation = QuietMutation().journaled(as: "quiet", in: MutationJournal(storage: storage))
      let store = OperationStore.detached(mutation: mutation)
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      let other = try DatabaseQueue(path: folder.file(), configuration: configuration)
      try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
      let calls = (0..<32).map { store.enqueue(with: "\($0)") }
      for call in calls {
        await #expect { try await call.accepted() } throws: { error in
          ((error as? JournalError)?.cause as? StorageError)?.code == .busy
        }
      }
      try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
      #expect(try await storage.keys("journal/").isEmpty)
      try await storage.put("a", "b")
      await storage.close()
    }

    @Test func `A damaged page is detected, and none of its entries is used`() async throws {
      let folder = try Folder()
      let storage = try SQLiteStorage(path: folder.file())
      try await storage.apply((0..<400).map { .put(key: "key\($0 + 1_000)", value: Array("value \($0)".utf8)) })
      await storage.close()
      let sound = try folder.read()
      let whole = try SQLiteStorage(path: folder.file())
      let model = Dictionary(uniqueKeysWithValues: try await whole.entries(withPrefix: "").map { ($0.key, $0.value) })
      await whole.close()
      var random = SystemRandomNumberGenerator()
      for _ in 0..<60 {
        var torn = sound
        // A half of a page that was not written, or a byte that has changed.
        if Bool.random(using: &random) {
          let page = Int.random(in: 1..<sound.count / 4_096, using: &random) * 4_096
          torn.replaceSubrange(page + 2_048..<page + 4_096, with: Data(count: 2_048))
        } else {
          torn[Int.random(in: 100..<sound.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        }
        let copy = try Folder()
        try copy.write(torn)
        do {
          let storage = try SQLiteStorage(path: copy.file())
          for entry in (try? await storage.entries(withPrefix: "")) ?? [] {
            #expect(entry.value == model[entry.key] || entry.value.first == 0, "neither as it was nor marked")
          }
          await storage.close()
        } catch {
          #expect([.notADatabase, .newerSchema, .failed].contains(error.code), "\(error)")
        }
      }
    }

    @Test(arguments: [
      "key = 'c'", "key = X'FF'", "value = 2.5", "value = 'text'", "checksum = 'text'", "checksum = checksum + 1",
    ])
    func `A row that has changed is detected, and the others are used`(change: String) async throws {
      let folder = try Folder()
      let storage = try SQLiteStorage(path: folder.file())
      try await storage.apply([.put(key: "a", value: [1]), .put(key: "b", value: [2])])
      await storage.close()
      let queue = try DatabaseQueue(path: folder.file())
      try await queue.write { try $0.execute(sql: "UPDATE entry SET \(change) WHERE key = 'b'") }
      try queue.close()
      let damaged = try SQLiteStorage(path: folder.file())
      let entries = try await damaged.entries(withPrefix: "")
      expect(entries.first { $0.key == "a" }?.value, equals: [1])
      #expect(entries.allSatisfy { $0.key == "a" || $0.value.first == 0 })
      await damaged.close()
    }

    @Test func `A read-only folder is refused with the remedy`() async throws {
      let folder = try Folder()
      let disk = folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      let isMounted = run("/bin/mount", "-t", "tmpfs", "tmpfs", disk)
      defer { if isMounted { _ = run("/bin/umount", disk) } }
      let storage = try SQLiteStorage(path: disk + "/state.sqlite")
      try await storage.put("a", "b")
      await storage.close()
      // Nothing but a disk that is read-only is forbidden to the superuser.
      if isMounted {
        try #require(run("/bin/mount", "-o", "remount,ro", disk))
      } else {
        chmod(disk, 0o500)
        try #require(access(disk, W_OK) != 0, "neither may a disk be mounted, nor is a folder read-only for this user")
      }
      defer { chmod(disk, 0o700) }
      expectRefusal(.cannotOpen, .readOnly, of: disk + "/state.sqlite")
      expectRefusal(.cannotOpen, .readOnly, of: disk + "/new.sqlite")
    }

    @Test(.enabled(if: mayMount(), "This user may not mount a small disk."))
    func `A full disk is reported, nothing of the batch is kept, and writing works again later`() async throws {
      let folder = try Folder()
      let disk = folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      try #require(run("/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk))
      defer { _ = run("/bin/umount", disk) }
      let ballast = disk + "/ballast"
      try Data(count: 200_000).write(to: URL(fileURLWithPath: ballast))
      let storage = try SQLiteStorage(path: disk + "/state.sqlite")
      let journal = MutationJournal(storage: storage)
      let block = [UInt8](repeating: 7, count: 20_000)
      var error: (any Error)?
      var count = 0
      while error == nil, count < 1_000 {
        do {
          try await storage.apply([.put(key: "a\(count)", value: block), .put(key: "b\(count)", value: block)])
          count += 1
        } catch let failure { error = failure }
      }
      expect((error as? StorageError)?.code, equals: .full, "\(String(describing: error))")
      try await expect(storage.keys("a").count, equals: count)
      try await expect(storage.keys("b").count, equals: count)

      let note = [UInt8](repeating: 65, count: 30_000)
      let mutation = QuietMutation().journaled(as: "quiet", in: journal)
      await #expect {
        try await OperationStore.detached(mutation: mutation).mutate(with: String(decoding: note, as: UTF8.self))
      } throws: {
        ($0 as? JournalError)?.code == .notAccepted
      }
      #expect(journal.entries.isEmpty)
      try FileManager.default.removeItem(atPath: ballast)
      try await storage.put("c", "room")
      try await expect(storage.keys("c"), equals: ["c"])
      await storage.close()
    }

    @Test(.enabled(if: mayMount(), "This user may not mount a small disk."))
    func `Entries can be removed from a full disk`() async throws {
      let folder = try Folder()
      let disk = folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      try #require(run("/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk))
      defer { _ = run("/bin/umount", disk) }
      let storage = try SQLiteStorage(path: disk + "/state.sqlite")
      let block = [UInt8](repeating: 7, count: 20_000)
      for number in 0..<5 { try await storage.apply([.put(key: "a\(number)", value: block)]) }
      try await storage.overwriteRemovedEntries()
      var error: (any Error)?
      var count = 0
      while error == nil, count < 1_000 {
        count += 1
        let value = [UInt8](repeating: UInt8(count % 256), count: 20_000)
        do { try await storage.apply([.put(key: "a\(count % 5)", value: value)]) } catch let failure { error = failure }
      }
      expect((error as? StorageError)?.code, equals: .full, "\(String(describing: error))")
      fillUp(disk + "/ballast")
      for number in 0..<5 { try await storage.apply([.remove(key: "a\(number)")]) }
      #expect(try await storage.keys().isEmpty)
      await storage.close()
    }

    @Test(.enabled(if: mayMount(), "This user may not mount a small disk."))
    func `A user can sign out although the disk is full`() async throws {
      let folder = try Folder()
      let disk = folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      try #require(run("/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk))
      defer { _ = run("/bin/umount", disk) }
      let storage = try SQLiteStorage(path: disk + "/state.sqlite")
      let client = OperationClient()
      client.defaultContext.operationStorage = storage
      let stores = (0..<20).map { client.store(for: ValueQuery(number: $0).persisted(as: "text")) }
      for store in stores { store.currentValue = String(repeating: "a", count: 5_000) }
      #expect(await client.persistence.flush())
      var error: (any Error)?
      for count in 0..<1_000 where error == nil {
        let value = [UInt8](repeating: 7, count: 3_000)
        do { try await storage.apply([.put(key: "a\(count)", value: value)]) } catch let failure { error = failure }
      }
      expect((error as? StorageError)?.code, equals: .full, "\(String(describing: error))")
      fillUp(disk + "/ballast")
      // Trying whether the disk can be written leaves the room for removals.
      for _ in 0..<3 { try? await storage.apply([.put(key: "probe", value: [1]), .remove(key: "probe")]) }
      #expect(FileManager.default.fileExists(atPath: disk + "/state.sqlite-reserve"))
      try await client.clearEverything()
      #expect(try await storage.keys("value/").isEmpty)
      await storage.close()
    }

    @Test(.enabled(if: mayMount(), "This user may not mount a small disk."), arguments: [false, true])
    func `From a full disk all entries can be removed, with the reserve, and leases be taken`(
      isLogEmpty: Bool
    ) async throws {
      let folder = try Folder()
      let disk = folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      try #require(run("/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk))
      defer { _ = run("/bin/umount", disk) }
      let path = disk + "/state.sqlite"
      let reserve = path + "-reserve"
      var storage = try SQLiteStorage(path: path)
      #expect(try Data(contentsOf: URL(fileURLWithPath: reserve)).count >= 131_072)
      var failure: StorageError?
      var count = 0
      // The file has to grow for what is in the log, so the log cannot be used from its beginning again.
      while failure == nil, count < 1_000 {
        do {
          try await storage.apply([.put(key: "a\(count)", value: [UInt8](repeating: 7, count: 3_000))])
          count += 1
        } catch let error as StorageError { failure = error }
      }
      expect(failure?.code, equals: .full)
      #expect(count > 20)
      let message = failure?.message ?? ""
      #expect(message.contains("bytes left. Make room on the disk, or remove entries"), "\(message)")
      // Afterwards the log has no room that was used before.
      if isLogEmpty { try await storage.overwriteRemovedEntries() }
      // Another program takes the rest.
      fillUp(disk + "/ballast")

      try await expect(storage.acquireLease("journal", owner: "a", for: .seconds(60)), equals: .held)
      for number in 0..<10 { try await storage.apply([.remove(key: "a\(number)")]) }
      try await expect(storage.keys().count, equals: count - 10)
      // What the file has not taken of it to grow is kept again, and the log is used again.
      #expect(FileManager.default.fileExists(atPath: reserve) != isLogEmpty)
      for number in 10..<20 { try await storage.apply([.remove(key: "a\(number)")]) }
      // It is kept again in what closing gives back, and opening needs it.
      await storage.close()
      #expect(FileManager.default.fileExists(atPath: reserve))
      fillUp(disk + "/ballast2")
      storage = try SQLiteStorage(path: path)
      for number in 20..<(count - 1) { try await storage.apply([.remove(key: "a\(number)")]) }
      try await expect(storage.keys(), equals: ["a\(count - 1)"])
      for name in ["/ballast", "/ballast2"] { try FileManager.default.removeItem(atPath: disk + name) }
      try await storage.apply([.remove(key: "a\(count - 1)")])
      try await storage.put("b", "room")
      #expect(FileManager.default.fileExists(atPath: reserve))
      try await expect(storage.keys(), equals: ["b"])
      await storage.close()
    }
  }

  private struct QuietMutation: MutationRequest {
    let path: OperationPath = ["quiet"]

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: String,
      in context: OperationContext,
      with continuation: OperationContinuation<Void, any Error>
    ) async throws {
      Issue.record("A call that was not stored was made.")
    }
  }
#endif
