import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded) struct WaiterTableTests {
  private typealias Table = WaiterTable

  @Test func `Each waiter gets an identifier of its own`() {
    var table = Table()
    expect((0..<5).map { _ in table.join() }, equals: [0, 1, 2, 3, 4])
    for waiterID in 0..<5 {
      guard case .arriving = table[waiterID] else {
        Issue.record("The identifier \(waiterID) is free.")
        continue
      }
    }
  }

  @Test func `Vacated identifiers are used again`() {
    var table = Table()
    for _ in 0..<5 { _ = table.join() }
    table.vacate(3)
    table.vacate(0)
    table.vacate(1)
    expect(Set((0..<3).map { _ in table.join() }), equals: [0, 1, 3])
    expect(table.join(), equals: 5)
  }

  @Test func `All waiters are resumed and their identifiers are used again`() async {
    var table = Table()
    let waiterIDs = (0..<3).map { _ in table.join() }
    table.vacate(waiterIDs[1])
    let hasFinished: Bool = await withUnsafeContinuation { continuation in
      table[waiterIDs[2]] = .suspended(continuation)
      let waiters = table.removeAll()
      waiters.resume(returning: true)
    }
    #expect(hasFinished)
    expect(table.join(), equals: 0)
  }

  @Test func `Only those that have left early stay when all are removed`() {
    var table = Table()
    let waiterIDs = (0..<3).map { _ in table.join() }
    #expect(!table.hasEarlyLeavers)
    table.leaveEarly(waiterIDs[1])
    _ = table.removeAll()
    #expect(table.hasEarlyLeavers)
    guard case .left = table[waiterIDs[1]] else {
      Issue.record("A waiter that left early is missing.")
      return
    }
    for waiterID in [waiterIDs[0], waiterIDs[2]] {
      guard case .vacant = table[waiterID] else {
        Issue.record("The waiter \(waiterID) is not removed.")
        continue
      }
    }
  }
}
