#if SwiftOperationPostgreSQL && os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  @Suite(.bounded) struct PoolMachineTests {
    private final class Connection: Sendable {}

    private static let gone = PostgreSQLError(code: .unavailable, message: "gone")
    private static let refused = PostgreSQLError(code: .noRights, message: "refused")

    private func machine(_ maximum: Int = 2, callers: Int = 100, isPatient: Bool = true) -> PoolMachine<Connection> {
      PoolMachine(maximumConnections: maximum, maximumCallers: callers, isPatient: isPatient, name: "The pool")
    }

    @Test func `Callers get connections in their order, and the one that was used last first`() {
      var machine = self.machine()
      expect(machine.acquire(1).openingCount, equals: 1)
      expect(machine.acquire(2).openingCount, equals: 1)
      expect(machine.acquire(3).openingCount, equals: 0)
      let (first, second) = (Connection(), Connection())
      expect(machine.didOpen(first).grants.map(\.caller), equals: [1])
      expect(machine.didOpen(second).grants.map(\.caller), equals: [2])
      expect(machine.release(second).grants.map(\.caller), equals: [3])
      #expect(machine.release(first).grants.isEmpty)
      #expect(machine.release(second).grants.isEmpty)
      #expect(machine.acquire(4).grants.first?.1 === second)
    }

    @Test func `While the server is away, one attempt is made at a time, and callers wait`() {
      var machine = self.machine()
      _ = machine.acquire(1)
      _ = machine.acquire(2)
      expect(machine.didFail(Self.gone).pause, equals: 1)
      // The second attempt was under way already.
      expect(machine.didFail(Self.gone).pause, equals: nil)
      expect(machine.acquire(3).openingCount, equals: 0)
      expect(machine.endPause().openingCount, equals: 1)
      let failed = machine.didFail(Self.gone)
      expect(failed.pause, equals: 3)
      #expect(failed.failures.isEmpty)
      expect(machine.endPause().openingCount, equals: 1)
      let opened = machine.didOpen(Connection())
      expect(opened.grants.map(\.caller), equals: [1])
      expect(opened.openingCount, equals: 1)
    }

    @Test func `Nobody waits where only a change of the server helps`() {
      var machine = self.machine()
      _ = machine.acquire(1)
      expect(machine.didFail(Self.refused).failures.map(\.caller), equals: [1])
      expect(machine.acquire(2).failures.first?.1.code, equals: .noRights)
      expect(machine.endPause().openingCount, equals: 0)
      expect(machine.acquire(3).openingCount, equals: 1)
    }

    @Test(arguments: [true, false])
    func `A pool that has connections serves all callers with them when one more is refused`(isPatient: Bool) {
      var machine = self.machine(3, isPatient: isPatient)
      _ = machine.acquire(1)
      let connection = Connection()
      _ = machine.didOpen(connection)
      expect(machine.acquire(2).openingCount, equals: 1)
      expect(machine.acquire(3).openingCount, equals: 1)
      for error in [Self.refused, Self.gone] { #expect(machine.didFail(error).failures.isEmpty) }
      expect(machine.release(connection).grants.map(\.caller), equals: [2])
      #expect(machine.acquire(4).failures.isEmpty)
      expect(machine.endPause().openingCount, equals: 1)
      #expect(machine.didFail(Self.refused).failures.isEmpty)
      // With the last connection, nobody serves those who wait.
      expect(machine.remove(connection).failures.map(\.caller), equals: [3, 4])
      expect(machine.callerCount, equals: 0)
    }

    @Test func `Without patience callers fail as soon as the server is known to be away`() {
      var machine = self.machine(isPatient: false)
      _ = machine.acquire(1)
      expect(machine.didFail(Self.gone).failures.map(\.caller), equals: [1])
      expect(machine.acquire(2).failures.first?.1.code, equals: .unavailable)
    }

    @Test func `A caller that leaves gets nothing, and too many are refused`() {
      var machine = self.machine(1, callers: 2)
      _ = machine.acquire(1)
      _ = machine.acquire(2)
      expect(machine.acquire(3).failures.first?.1.code, equals: .busy)
      #expect(machine.leave(1).hasWaited)
      #expect(!machine.leave(1).hasWaited)
      expect(machine.didOpen(Connection()).grants.map(\.caller), equals: [2])
    }

    @Test func `A closed pool closes its connections as they become free, and refuses callers`() {
      var machine = self.machine(3)
      for caller in 1...3 as ClosedRange<UInt64> { _ = machine.acquire(caller) }
      let (first, second) = (Connection(), Connection())
      _ = machine.didOpen(first)
      _ = machine.didOpen(second)
      _ = machine.release(first)
      _ = machine.acquire(4)
      _ = machine.release(second)
      _ = machine.release(second)
      let closed = machine.close()
      expect(closed.closing.count, equals: 1)
      #expect(closed.closing.first === second)
      #expect(machine.release(first).closing.first === first)
      expect(machine.acquire(5).failures.first?.1.code, equals: .closed)
      expect(machine.didOpen(Connection()).closing.count, equals: 1)
    }

    @Test func `Connections that nobody has used for a period are closed, but for one`() {
      var machine = self.machine(3)
      for caller in 1...3 as ClosedRange<UInt64> { _ = machine.acquire(caller) }
      let connections = (0..<3).map { _ in Connection() }
      for connection in connections { _ = machine.didOpen(connection) }
      #expect(machine.sweep().closing.isEmpty)
      for connection in connections { _ = machine.release(connection) }
      // They were in use during this period.
      #expect(machine.sweep().closing.isEmpty)
      _ = machine.acquire(4)
      _ = machine.release(connections[2])
      let closing = machine.sweep().closing
      expect(closing.count, equals: 2)
      #expect(!closing.contains { $0 === connections[2] })
      for connection in closing { _ = machine.remove(connection) }
      expect(machine.connectionCount, equals: 1)
      #expect(machine.sweep().closing.isEmpty)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `Every caller has one outcome, the limit is kept, and nobody waits beside a free connection`(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let maximum = Int.random(in: 1...4, using: &random)
      var machine = self.machine(maximum, isPatient: Bool.random(using: &random))
      var (waiting, ended) = ([] as [UInt64], Set<UInt64>())
      var (open, busy) = ([] as [Connection], [] as [Connection])
      var (opening, isPausing, last) = (0, false, 0 as UInt64)
      func apply(_ actions: PoolMachine<Connection>.Actions) {
        for (caller, connection) in actions.grants {
          expect(waiting.first, equals: caller)
          waiting.removeAll { $0 == caller }
          #expect(ended.insert(caller).inserted)
          #expect(!busy.contains { $0 === connection })
          busy.append(connection)
        }
        for (caller, _) in actions.failures {
          waiting.removeAll { $0 == caller }
          #expect(ended.insert(caller).inserted)
        }
        opening += actions.openingCount
        if actions.pause != nil { isPausing = true }
        expect(machine.connectionCount, equals: open.count + opening)
        #expect(machine.connectionCount <= maximum)
        expect(machine.callerCount, equals: waiting.count)
        #expect(waiting.isEmpty || busy.count == open.count)
        #expect(waiting.isEmpty || isPausing || opening > 0 || open.count == maximum)
      }
      for _ in 0..<300 {
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
          last += 1
          waiting.append(last)
          apply(machine.acquire(last))
        case 2 where opening > 0:
          opening -= 1
          let connection = Connection()
          open.append(connection)
          apply(machine.didOpen(connection))
        case 3 where opening > 0:
          opening -= 1
          apply(machine.didFail(Bool.random(using: &random) ? Self.gone : Self.refused))
        case 4 where !busy.isEmpty:
          let connection = busy.remove(at: Int.random(in: 0..<busy.count, using: &random))
          apply(machine.release(connection))
        case 5 where !open.isEmpty:
          let connection = open.remove(at: Int.random(in: 0..<open.count, using: &random))
          busy.removeAll { $0 === connection }
          apply(machine.remove(connection))
        case 6 where isPausing:
          isPausing = false
          apply(machine.endPause())
        default:
          guard let caller = waiting.randomElement(using: &random) else { continue }
          waiting.removeAll { $0 == caller }
          ended.insert(caller)
          #expect(machine.leave(caller).hasWaited)
        }
      }
    }
  }
#endif
