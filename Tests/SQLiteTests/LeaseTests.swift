#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import OperationPersistence
  @testable import OperationSQLite
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @Suite(.bounded) struct LeaseTests {
    private let folder: Folder

    init() throws {
      self.folder = try Folder.inMemory()
    }

    @Test func `A storage knows whether another one has changed entries, and its own and other changes apart`()
      async throws
    {
      let time = MachineTime()
      let (first, second) = (try self.open(time), try self.open(time))
      var number = try await first.numberOfForeignChanges(withPrefix: "journal/")
      #expect(number != nil)
      try await first.apply([.put(key: "journal/a", value: [1])])
      try await expect(first.acquireLease("journal", owner: "a", for: .seconds(10)), equals: .held)
      _ = try await second.entries(withPrefix: "")
      try await expect(first.numberOfForeignChanges(withPrefix: "journal/"), equals: number)
      // Another process that stores values, and takes leases.
      try await second.apply([.put(key: "value/a", value: [1])])
      try await expect(second.acquireLease("journal:b", owner: "b", for: .seconds(10)), equals: .held)
      try await expect(first.numberOfForeignChanges(withPrefix: "journal/"), equals: number)
      for change in [StorageChange.put(key: "journal/a", value: [2]), .remove(key: "journal/a")] {
        try await second.apply([change])
        let next = try await first.numberOfForeignChanges(withPrefix: "journal/")
        #expect(next != number)
        number = next
      }
      // One that is overwritten before it was looked for.
      try await second.apply([.put(key: "journal/b", value: [1])])
      try await first.apply([.put(key: "journal/b", value: [2])])
      let next = try await first.numberOfForeignChanges(withPrefix: "journal/")
      #expect(next != number)
      number = next
      try await expect(first.numberOfForeignChanges(withPrefix: "journal/"), equals: number)
      for storage in [first, second] { await storage.close() }
    }

    @Test func `Of two storages with one file, one holds a lease until its end`() async throws {
      let time = MachineTime()
      let (first, second) = (try self.open(time), try self.open(time))
      try await expect(first.acquireLease("journal", owner: "a", for: .seconds(10)), equals: .held)
      try await expect(
        second.acquireLease("journal", owner: "b", for: .seconds(10)),
        equals: .heldByAnother(remaining: .seconds(10))
      )
      // Names are independent, also those that contain a null character or are equal as strings.
      for name in ["other", "", "journal\0", "\u{E9}", "e\u{301}"] {
        try await expect(second.acquireLease(name, owner: "b", for: .seconds(10)), equals: .held, "\(name)")
      }
      time.advance(by: .seconds(6))
      try await expect(first.acquireLease("journal", owner: "a", for: .seconds(10)), equals: .held)
      time.advance(by: .seconds(6))
      try await expect(
        second.acquireLease("journal", owner: "b", for: .seconds(10)),
        equals: .heldByAnother(remaining: .seconds(4))
      )
      time.advance(by: .seconds(4))
      try await expect(second.acquireLease("journal", owner: "b", for: .seconds(10)), equals: .held)
      try await expect(
        first.acquireLease("journal", owner: "a", for: .seconds(10)),
        equals: .heldByAnother(remaining: .seconds(10))
      )
      await first.close()
      await second.close()
    }

    @Test func `A lease is taken at once if its process has ended, and not if it lives or is unknown`()
      async throws
    {
      let time = MachineTime()
      let storage = try self.open(time)
      let own = LeaseOwner.make()
      let parts = own.split(separator: ".")
      try #require(parts.count == 4)
      let ended = Process()
      ended.executableURL = URL(fileURLWithPath: "/bin/true")
      try ended.run()
      ended.waitUntilExit()
      // A process that has ended, and one whose identifier this process has got.
      let gone = ["\(ended.processIdentifier).1.\(parts[2]).x", "\(parts[0]).1.\(parts[2]).x"]
      let alive = [
        own, "1.\(parts[1]).\(parts[2])", "\(ended.processIdentifier).1.1.x",
        "\(ended.processIdentifier).1.\(parts[2].prefix { $0 != "-" }).x", "x", "-1.1.\(parts[2]).x",
      ]
      for (index, owner) in (gone + alive).enumerated() {
        try await expect(storage.acquireLease("lease \(index)", owner: owner, for: .seconds(10)), equals: .held)
        let lease = try await storage.acquireLease("lease \(index)", owner: "b", for: .seconds(10))
        expect((lease == .held), equals: gone.contains(owner), "\(owner)")
      }
      await storage.close()
    }

    @Test func `Only the owner releases a lease`() async throws {
      let time = MachineTime()
      let (first, second) = (try self.open(time), try self.open(time))
      try await expect(first.acquireLease("journal", owner: "\u{E9}", for: .seconds(10)), equals: .held)
      try await second.releaseLease("journal", owner: "e\u{301}")
      try await expect(
        second.acquireLease("journal", owner: "b", for: .seconds(1)),
        equals: .heldByAnother(remaining: .seconds(10))
      )
      try await first.releaseLease("journal", owner: "\u{E9}")
      try await first.releaseLease("journal", owner: "\u{E9}")
      try await expect(second.acquireLease("journal", owner: "b", for: .seconds(1)), equals: .held)
      await first.close()
      await second.close()
      await #expect { try await first.acquireLease("x", owner: "a", for: .zero) } throws: {
        ($0 as? StorageError)?.code == .closed
      }
      await #expect { try await first.releaseLease("x", owner: "a") } throws: { ($0 as? StorageError)?.code == .closed }
    }

    @Test func `A lease survives closing, and ends when the machine starts again`() async throws {
      let time = MachineTime()
      let first = try self.open(time)
      try await expect(first.acquireLease("journal", owner: "a", for: .seconds(1_000)), equals: .held)
      await first.close()
      let second = try self.open(time)
      try await expect(
        second.acquireLease("journal", owner: "b", for: .seconds(1)),
        equals: .heldByAnother(remaining: .seconds(1_000))
      )
      await second.close()
      let third = try SQLiteStorage(path: self.folder.file(), clock: time.clock(start: "second"))
      try await expect(third.acquireLease("journal", owner: "b", for: .seconds(1)), equals: .held)
      await third.close()
    }

    @Test func `A lease that cannot be true has ended`() async throws {
      let (late, early) = (MachineTime(at: .seconds(100_000)), MachineTime())
      let (first, second) = (try self.open(late), try self.open(early))
      try await expect(first.acquireLease("journal", owner: "a", for: .seconds(10)), equals: .held)
      try await expect(second.acquireLease("journal", owner: "b", for: .seconds(10)), equals: .held)
      await first.close()
      await second.close()
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .seconds(Int64.min), .seconds(Int64.max), .nanoseconds(1)])
    func `A lease may last for any time`(duration: Duration) async throws {
      let time = MachineTime()
      let storage = try self.open(time)
      try await expect(storage.acquireLease("journal", owner: "a", for: duration), equals: .held)
      let result = try await storage.acquireLease("journal", owner: "b", for: .seconds(1))
      #expect(duration > .zero ? result != .held : result == .held)
      await storage.close()
    }

    @Test func `Leases that have ended are not kept`() async throws {
      let time = MachineTime()
      let storage = try self.open(time)
      for number in 0..<300 {
        try await expect(storage.acquireLease("\(number)", owner: "a", for: .seconds(1)), equals: .held)
        time.advance(by: .seconds(1))
      }
      let count = try await storage.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM lease") }
      expect(count, equals: 1)
      await storage.close()
    }

    @Test func `Of many owners at once, in two storages, one gets the lease`() async throws {
      let time = MachineTime()
      let storages = [try self.open(time), try self.open(time)]
      let held = try await withThrowingTaskGroup(of: Bool.self) { group in
        for owner in 0..<100 {
          group.addTask {
            try await storages[owner % 2].acquireLease("journal", owner: "\(owner)", for: .seconds(5)) == .held
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      expect(held, equals: 1)
      for storage in storages { await storage.close() }
    }

    @Test func `The lease of a process that was killed is taken over at its end`() async throws {
      let killed = try await runSubject("lease", self.folder.file(), "killed", "3600")
      expect(killed.reason, equals: .uncaughtSignal)
      expect(killed.output, equals: "held")
      let refused = try await runSubject("lease", self.folder.file(), "other", "0")
      #expect(refused.output.hasPrefix("another"))
      // The processes read the time of the machine: an hour later it has ended.
      let machine = LeaseClock.ofMachine
      let later = LeaseClock(start: machine.start) { machine.now() + 3_600_000_000_000 }
      let storage = try SQLiteStorage(path: self.folder.file(), clock: later)
      try await expect(storage.acquireLease("journal", owner: "next", for: .seconds(1)), equals: .held)
      await storage.close()
    }

    private func open(_ time: MachineTime) throws -> SQLiteStorage {
      try SQLiteStorage(path: self.folder.file(), clock: time.clock())
    }
  }

  /// The time since the start of a machine, which a test advances.
  private final class MachineTime: Sendable {
    private let time: Mutex<Int64>

    init(at time: Duration = .seconds(1)) {
      self.time = Mutex(Int64(time / .nanoseconds(1)))
    }

    func advance(by duration: Duration) {
      self.time.withLock { $0 += Int64(duration / .nanoseconds(1)) }
    }

    func clock(start: String = "first") -> LeaseClock {
      LeaseClock(start: start) { self.time.withLock { $0 } }
    }
  }
#endif
