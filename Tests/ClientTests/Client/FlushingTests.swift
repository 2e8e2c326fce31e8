import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct FlushingTests {
  /// Is flushed when its gate is open. The parameter makes several types, as a client has one object of each type.
  private final class Writing<Kind>: OperationClientFlushable {
    let gate: Gate
    let isWritten: Bool

    init(_ gate: Gate = Gate(isOpen: true), isWritten: Bool = true) {
      self.gate = gate
      self.isWritten = isWritten
    }

    func flush() async -> Bool {
      do { try await self.gate.wait() } catch { return false }
      return self.isWritten
    }
  }

  private final class Reading: Sendable {}

  @Test func `A client with nothing to write is flushed at once`() async {
    let client = OperationClient()
    #expect(await client.flush())
    client.attach(Reading())
    #expect(await client.flush())
  }

  @Test func `All objects are flushed, side by side, and a failure is reported`() async throws {
    let client = OperationClient()
    let (first, second) = (Gate(), Gate())
    client.attach(Writing<Int>(first))
    client.attach(Writing<String>(second, isWritten: false))
    client.attach(Reading())
    let flush = Task { await client.flush() }
    try await first.arrivals(count: 1)
    try await second.arrivals(count: 1)
    first.open()
    second.open()
    #expect(!(await flush.value))
    client.attach(Writing<String>())
    #expect(await client.flush())
  }

  @Test func `A flush that is cancelled returns false`() async throws {
    let client = OperationClient()
    let gate = Gate()
    client.attach(Writing<Int>(gate))
    let flush = Task { await client.flush() }
    try await gate.arrivals(count: 1)
    flush.cancel()
    #expect(!(await flush.value))
  }
}
